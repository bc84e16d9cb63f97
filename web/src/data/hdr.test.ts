import { readFileSync } from "node:fs";
import { deflateSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { decode } from "./hdr";

interface Known {
  name: string;
  hdr: string;
  count: number;
  values: Record<string, number>;
}

// Made by Go's implementation, by the test of internal/web.
const known = JSON.parse(readFileSync(new URL("../../../internal/web/testdata/hdr.json", import.meta.url), "utf8")) as Known[];

describe("decodes what Go encoded, with the same answers", () => {
  test.each(known)("$name", async (k) => {
    const h = await decode(k.hdr);
    expect(h.count).toBe(k.count);
    for (const [q, want] of Object.entries(k.values)) expect(h.value(Number(q)), `at ${q}`).toBe(want);
    const shares = Object.keys(k.values).map(Number).sort((a, b) => a - b);
    expect(h.values(shares)).toEqual(shares.map((q) => h.value(q)));
  });
});

/** A compressed histogram with this header and payload. */
function made(change: (v: DataView) => void, payload: number[]): string {
  const plain = new Uint8Array(40 + payload.length);
  const v = new DataView(plain.buffer);
  v.setUint32(0, 0x1c849313);
  v.setUint32(4, payload.length);
  v.setInt32(12, 3);
  v.setBigInt64(16, 1n);
  v.setBigInt64(24, 3_600_000_000_000n);
  v.setFloat64(32, 1);
  plain.set(payload, 40);
  change(v);
  const z = deflateSync(plain);
  const out = new Uint8Array(8 + z.length);
  const o = new DataView(out.buffer);
  o.setUint32(0, 0x1c849314);
  o.setUint32(4, z.length);
  out.set(z, 8);
  return Buffer.from(out).toString("base64");
}

describe("refuses what it does not understand", () => {
  const cases: [string, string, RegExp][] = [
    ["no base64", "§§", /./],
    ["empty", "", /too short/],
    ["another format", Buffer.from("HELLO, WORLD").toString("base64"), /unknown format/],
    ["scaled values", made((v) => v.setFloat64(32, 1000), [2]), /scaled/],
    ["wrong digits", made((v) => v.setInt32(12, 9), [2]), /digits/],
    ["wrong payload length", made((v) => v.setUint32(4, 99), [2]), /wrong length/],
    ["a run of zeros without end", made(() => {}, [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x0f]), /more counters/],
    ["ends within a number", made(() => {}, [0x80]), /ends within/],
  ];
  test.each(cases)("%s", async (_, text, why) => {
    await expect(decode(text)).rejects.toThrow(why);
  });

  test("a stream that inflates without end", async () => {
    const z = deflateSync(new Uint8Array(60_000_000));
    const out = new Uint8Array(8 + z.length);
    const o = new DataView(out.buffer);
    o.setUint32(0, 0x1c849314);
    o.setUint32(4, z.length);
    out.set(z, 8);
    await expect(decode(Buffer.from(out).toString("base64"))).rejects.toThrow(/larger/);
  }, 60_000);
});

import { describe, expect, test } from "vitest";
import { csv } from "./csv";
import { by, digits, figure, size, time } from "./format";
import { fitLines, toNumber, type Shown } from "./model";

describe("numbers for people", () => {
  test.each([
    [0, "0"], [0.28, "280 ns"], [38.015, "38 µs"], [999.6, "1 ms"], [3387.391, "3.39 ms"], [703_947, "704 ms"], [12_000_000, "12 s"], [3_600_000_000, "60 min"],
  ])("%d µs", (us, want) => expect(time(us)).toBe(want));
  test("in a column zeros stay", () => expect([time(1100, true), time(1470, true), time(471, true), time(86_400, true)]).toEqual(["1.10 ms", "1.47 ms", "471 µs", "86.4 ms"]));
  test("digits by the interval", () => {
    expect([by(12_287.43, 250), by(12_287.43, 12), by(1.23456, 0.012), by(42.1234, 0)]).toEqual(["12,290", "12,287", "1.235", "42.12"]);
  });
  test("nothing is not zero", () => {
    expect([time(undefined), size(NaN), digits(Infinity)]).toEqual(["–", "–", "–"]);
  });
  test("evidence by the unit in its name", () => {
    expect([figure("answer_time_us", 3690), figure("peak_busy", 0.136), figure("connections", 64), figure("memory_bytes", 1 << 20)]).toEqual(["3.69 ms", "13.6%", "64", "1 MiB"]);
  });
});

test("axes that are numbers", () => {
  expect(["8192", "0.2", "200m", "5000/s", "nginx", "", "-1", "1e9"].map(toNumber)).toEqual([8192, 0.2, 0.2, 5000, undefined, undefined, undefined, undefined]);
});

describe("CSV", () => {
  test("quotes what needs it", () => expect(csv(["a", "b"], [['x,"y"\n', 1.5], [null, NaN]])).toBe('a,b\r\n"x,""y""\n",1.5\r\n,\r\n'));
  test("holds no formula", () => expect(csv(["n"], [["=1+1"], ["@cmd"], [-1]])).toBe("n\r\n'=1+1\r\n'@cmd\r\n-1\r\n"));
});

describe("what was made smaller for the machine", () => {
  const shown = (...fits: unknown[]) => ({ trials: fits.map((fit) => ({ plan: { fit } })) }) as unknown as Shown;
  const change = { what: "cpus", of: ["app", "gateway"], from: 4, to: 0.5, why: "two cores" };
  test.each([
    ["not asked for", shown(undefined), []],
    ["nothing", shown({}), ["nothing had to be reduced"]],
    ["each once", shown({ changes: [change] }, { changes: [change, { what: "memory", from: 2 ** 33, to: 2 ** 30, why: "w" }], unseen: ["b"] }),
      ["cpus 4 → 0.5 for app, gateway: two cores", "memory 8 GiB → 1 GiB: w", "not looked at, and as the file says: b"]],
  ])("%s", (_, s, want) => expect(fitLines(s)).toEqual(want));
});

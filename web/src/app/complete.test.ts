import { describe, expect, test } from "vitest";
import { complete, pathAt, type Schema } from "./complete";
import { indentAfter, offsetOf } from "./place";

const schema: Schema = {
  type: "object",
  required: ["prony"],
  properties: {
    prony: { const: 1, description: "Version." },
    services: { type: "object", additionalProperties: { $ref: "#/$defs/service" } },
    load: { anyOf: [{ $ref: "#/$defs/load" }, { type: "array", items: { $ref: "#/$defs/load" } }] },
    expect: { type: "array", items: { type: "string" } },
  },
  $defs: {
    service: { type: "object", properties: { catalog: { type: "string" }, limits: { type: "object", properties: { cpus: {}, memory: {} } }, upstream: { $ref: "#/$defs/service" } } },
    load: { type: "object", properties: { target: {}, model: { enum: ["open", "closed"] }, keepalive: { type: "boolean" }, requests: { type: "array", items: { type: "object", properties: { path: {}, method: { enum: ["GET", "POST"] } } } } } },
  },
};

/** The cursor stands at the bar. */
function offered(text: string): { labels: string[]; put: (i: number) => string } {
  const at = text.indexOf("|");
  const plain = text.replace("|", "");
  const c = complete(schema, plain, at);
  return { labels: c.items.map((i) => i.label), put: (i) => plain.slice(0, c.from) + c.items[i]!.insert + plain.slice(at) };
}

describe("offers what may stand at the cursor", () => {
  const cases: [string, string, string[]][] = [
    ["keys of the file", "|", ["prony", "services", "load", "expect"]],
    ["those that are not there yet", "prony: 1\nload:\n  target: a\n|", ["services", "expect"]],
    ["those that fit what is typed", "prony: 1\nse|", ["services"]],
    ["those below a name that is free", "services:\n  app:\n    |", ["catalog", "limits", "upstream"]],
    ["deeper", "services:\n  app:\n    catalog: x\n    limits:\n      |", ["cpus", "memory"]],
    ["back outside", "services:\n  app:\n    limits:\n      cpus: 1\n    |", ["catalog", "upstream"]],
    ["beside a later key", "services:\n  app:\n    |\n    catalog: x\n", ["limits", "upstream"]],
    ["of a choice", "load:\n  |", ["target", "model", "keepalive", "requests"]],
    ["in an item of a list", "load:\n  requests:\n    - |", ["path", "method"]],
    ["beside the first key of an item", "load:\n  requests:\n    - path: /\n      |", ["method"]],
    ["words", "load:\n  model: |", ["open", "closed"]],
    ["words that fit", "load:\n  model: cl|", ["closed"]],
    ["truths", "load:\n  keepalive: |", ["true", "false"]],
    ["words in an item", "load:\n  requests:\n    - method: |", ["GET", "POST"]],
    ["nothing in a comment", "# lo|", []],
    ["nothing for a free text", "load:\n  target: |", []],
    ["nothing below a name that there is not", "nothing:\n  |", []],
    ["nothing that an object has by itself", "constructor:\n  |", []],
  ];
  test.each(cases)("%s", (_, text, want) => expect(offered(text).labels).toEqual(want));

  test("puts the key in place of what was typed", () => expect(offered("se|\n").put(0)).toBe("services: \n"));
  test("a circle of references ends", () => expect(offered("services:\n  a:\n    upstream:\n      upstream:\n        |").labels).toEqual(["catalog", "limits", "upstream"]));
});

test("any place of any text is answered", () => {
  const text = "a:\n  - - b: [1, {c: d}]\n\t x\n- e\n? f\n  :\n'g': \"h\n&i *j |\n  k";
  for (let i = 0; i <= text.length; i++) complete(schema, text, i);
});

test("lines and columns", () => {
  expect(pathAt(["a:", "  b:", "    c"], 2, 4, 0)).toEqual(["a", "b"]);
  expect(offsetOf("ab\ncd\n", 2, 2)).toBe(4);
  expect(offsetOf("ab\ncd", 9, 9)).toBe(5);
  expect(offsetOf("ab", 0, 0)).toBe(0);
});

test("a new line is as deep as what it belongs to", () => {
  expect(indentAfter("a:")).toBe("  ");
  expect(indentAfter("  a: 1")).toBe("  ");
  expect(indentAfter("  - a:")).toBe("      ");
  expect(indentAfter("")).toBe("");
});

import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { causes, clauses, doubts, list, others, pairRatios, rests, sameLimit, seenIn, standing } from "./answer";
import { limitName } from "./limits";
import { derive, type Shown } from "./model";
import type { Comparison, Finding, PageDocument, Severity, Trial, Verdict } from "./types";

const found = (rule: string, severity: Severity, message: string, value = 0): Finding => ({ rule, severity, message, evidence: { steal: value }, threshold: { steal: 0.01 } });

function trial(number: number, block: number, variant: string, rate: number, verdict: Verdict, findings: Finding[] = []): Trial {
  return { number, block, variant, validity: { verdict, findings }, load: { rate, duration_us: 3e6, latency: {}, requests: { asked: 1, failed: 0 } }, generator: {}, bottleneck: verdict === "invalid" ? null : { what: "cpu-quota", where: "app[0]", message: "held back; backend-bound" } } as unknown as Trial;
}

/** Three variants in three blocks; three trials are invalid. */
function few(): Shown {
  const steal = (v: number, s: Severity) => found("steal", s, `the hypervisor gave ${v}%`, v / 100);
  const trials = [
    trial(1, 0, "n=1", 2000, "valid"), trial(2, 0, "n=2", 3600, "valid"), trial(3, 0, "n=3", 6000, "valid"),
    trial(4, 1, "n=3", 5600, "valid"), trial(5, 1, "n=1", 2400, "valid"), trial(6, 1, "n=2", 3800, "invalid", [steal(5.2, "invalid")]),
    trial(7, 2, "n=1", 1960, "suspect", [steal(1.3, "suspect")]), trial(8, 2, "n=2", 3100, "invalid", [steal(5.48, "invalid")]), trial(9, 2, "n=3", 4600, "invalid", [found("foreign-cpu", "invalid", "other programs used 0.7 cores")]),
  ];
  const variants = ["1", "2", "3"].map((v) => ({ name: `n=${v}`, values: { n: v } }));
  return derive({ page: 1, experiment: { schema: "", plan: { variants, baseline: "n=1" }, trials } } as unknown as PageDocument);
}

describe("what a number rests on", () => {
  const shown = few();
  const [base, , best] = shown.rows as [Shown["rows"][0], Shown["rows"][0], Shown["rows"][0]];
  test("the trials, and those left out with their reasons", () => {
    const r = rests(best);
    expect(r.on).toBe("median of trials 3 and 4");
    expect(r.out.map((o) => [o.trial.number, o.rate, o.why])).toEqual([[9, 4600, "other programs used 0.7 cores"]]);
  });
  test("one trial", () => expect(rests(shown.rows[1]!).on).toBe("from trial 2 alone"));
  test("the ratio of each block with both", () => expect(pairRatios(best, base)).toEqual([3, 5600 / 2400]));
  test("its limit in how many", () => expect(sameLimit(best)).toEqual({ n: 2, of: 2 }));
});

describe("how it stands to the baseline", () => {
  const shown = few();
  const best = shown.rows[2]!;
  const base = shown.rows[0]!;
  const c = (more: Partial<Comparison>): Comparison => ({ metric: "rate", variant: "n=3", baseline: "n=1", verdict: "cannot tell", ratio: 2.72, ...more });
  test("too few", () => {
    expect(standing(best, base, [c({ pairs: 2, ratios: [3.12, 2.37], needed: 7 })])).toEqual({ times: 2.72, sure: false, by: "3.12 and 2.37 in the 2 usable blocks", says: "Too few trials for a verdict: it takes 7 usable blocks, and there are 2.", verdict: "cannot tell" });
  });
  test("a verdict", () => expect(standing(best, base, [c({ verdict: "better", low: 2.6, high: 2.8 })])).toMatchObject({ sure: true, by: "2.6 to 2.8", says: "", verdict: "better" }));
  test("an interval that cannot tell", () => expect(standing(best, base, [c({ low: 0.9, high: 1.2, pairs: 7, needed: 19 })]).says).toBe("The interval holds both no difference and one that matters. About 19 blocks would tell; there are 7."));
  test("without a comparison it claims only what is seen", () => expect(standing(best, base, [])).toMatchObject({ sure: false, by: "3 and 2.33 in the 2 usable blocks", says: "The ranges do not overlap." }));
});

describe("causes", () => {
  const shown = few();
  test("each once, with its worst", () => {
    const all = causes(shown.trials);
    expect(all.map((x) => [x.finding.rule, x.finding.message, x.of, x.trials])).toEqual([["steal", "the hypervisor gave 5.48%", 8, [6, 7, 8]], ["foreign-cpu", "other programs used 0.7 cores", 9, [9]]]);
  });
  test("those of the number first", () => expect(doubts(shown, [shown.rows[2], shown.rows[0]]).map((x) => x.finding.rule)).toEqual(["foreign-cpu", "steal"]));
  test("where they were seen", () => {
    expect([seenIn(shown, [9]), seenIn(shown, [6, 8]), seenIn(shown, [6, 7, 8])]).toEqual(["trial 9 (n=3, left out)", "trials 6 and 8 (n=2, left out)", "trial 7 (n=1), trials 6 and 8 (n=2, left out)"]);
  });
  test("of one trial nothing is said", () => expect(seenIn(derive({ page: 1, run: trial(1, 0, "", 1, "suspect") } as PageDocument), [1])).toBe(""));
});

test("lists", () => expect([list([]), list([3]), list([3, 4]), list([1, 2, 3]), list([1, 2, 3, 4, 5, 6])]).toEqual(["", "3", "3 and 4", "1, 2 and 3", "1, 2, 3, 4 and 2 more"]));

test("the first clause of a message", () => expect([clauses("a, b"), clauses("a; b; c")]).toEqual([["a, b", ""], ["a", "b; c"]]));

test("the other instances", () => {
  const t = { ...trial(1, 0, "", 1, "valid"), services: [0, 1, 2].map((instance) => ({ name: "app", instance, throttled_ratio: 1 - instance / 50 })) } as unknown as Trial;
  expect(others(t)).toEqual([{ name: "app[1]", held: 0.98 }, { name: "app[2]", held: 0.96 }]);
});

test("limits are named as the rest of Prony names them", () => {
  const all = JSON.parse(readFileSync(new URL("../../../internal/web/testdata/limits.json", import.meta.url), "utf8")) as { what: string; where: string; name: string }[];
  for (const x of all) expect(limitName(x.what, x.where)).toBe(x.name);
  expect([limitName(undefined), limitName("constructor", "x")]).toEqual(["not identified", "constructor of x"]);
});

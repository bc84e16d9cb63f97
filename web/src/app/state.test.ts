import { describe, expect, test } from "vitest";
import { query } from "./api";
import { because, effect, interval, oneIn, ratios, value, type Metric, type Result } from "./comparison";
import { patience } from "./follow";
import { standing, type History } from "./history";
import { frameOf, panelsOf } from "./livepanels";
import { duration, inWords, left, share, START, step, type LiveState } from "./livestate";
import { sidesOf } from "./pick";

const play = (events: Record<string, unknown>[], from: LiveState = START): LiveState => events.reduce<LiveState>((s, e) => step(s, s.last + 1, e), from);

const trial = (number: number, of = 2) => ({ event: "trial", at: "2026-03-01T12:00:00Z", number, of, block: 0, variant: "v", left: "about 1m10s" });
const progress = (elapsed: number, more = {}) => ({ event: "progress", elapsed_us: elapsed * 1e6, total_us: 10e6, length_us: 1e6, rate: 100, p50_us: 5, p99_us: 9, open: 4, completed: 100, ...more });

describe("the events of a running experiment", () => {
  test("a trial goes on", () => {
    const s = play([{ event: "campaign", id: "c", name: "scaling", trials: 2 }, trial(1), { event: "phase", text: "load" }, progress(1, { warmup: true }), progress(2), progress(3)]);
    expect(s.campaign?.name).toBe("scaling");
    expect(s.phase).toBe("load");
    expect(s.seconds.map((x) => x.at)).toEqual([0.5, 1.5, 2.5]);
    expect(share(s)).toBeCloseTo(0.15);
  });
  test("what comes again changes nothing", () => {
    const s = play([trial(1), progress(1)]);
    expect(step(s, 2, progress(1))).toBe(s);
  });
  test("a new trial begins with no seconds, and counts those that are done", () => {
    const s = play([trial(1), progress(10), { event: "finished", number: 1, variant: "v", verdict: "valid", rate: 1, p50_us: 1, p99_us: 1, failed: 0 }, trial(2)]);
    expect(s.seconds).toEqual([]);
    expect(share(s)).toBe(0.5);
    expect(share(play([progress(5)], s))).toBe(0.75);
  });
  test("the same finding of two trials stands once", () => {
    const f = { event: "finding", rule: "foreign-cpu", severity: "invalid", message: "m" };
    const s = play([{ ...f, number: 1 }, { ...f, number: 2 }, { ...f, number: 2 }]);
    expect(s.findings.map((x) => x.numbers)).toEqual([[1, 2]]);
  });
  test("the end", () => {
    expect(share(play([trial(1), { event: "ended", runs: ["a"], error: "" }]))).toBe(1);
    expect(play([{ event: "ended", runs: ["a"], error: "interrupted" }]).ended).toEqual({ runs: ["a"], error: "interrupted" });
  });
  test.each([[{ event: "unknown" }], [{}], [{ event: "progress" }], [{ event: "observed", observed: [null, { kind: "host" }] }], [{ event: "trial", number: "x" }], [{ event: "ended", runs: null }]])("nothing breaks on %j", (e) => {
    const s = play([e]);
    expect(s.last).toBe(1);
    expect(share(s)).toBeGreaterThanOrEqual(0);
    panelsOf(s);
    frameOf(s);
  });
  test("no more seconds are kept than are drawn", () => {
    expect(play(Array.from({ length: 1000 }, (_, i) => progress(i))).seconds.length).toBe(900);
  });
  test("the warm-up lies before zero", () => {
    const s = play([trial(1), progress(1, { warmup: true }), progress(2), progress(3)]);
    expect(panelsOf(s)[0]!.lines[0]!.x).toEqual([-0.5, 0.5, 1.5]);
    expect(frameOf(s)).toMatchObject({ from: -1, to: 9, window: Infinity });
    expect(frameOf(play([trial(1), progress(1, { warmup: true })])).window).toBe(0);
  });
});

describe("the time that is left", () => {
  const at = Date.parse("2026-03-01T12:00:00Z");
  test.each([[0, "about 70 s"], [10_000, "about 60 s"], [90_000, "a moment"]])("after %d ms", (ms, want) => expect(left(play([trial(1)]), at + ms)).toBe(want));
  test.each([["1h2m3s", 3723], ["about 2m0s", 120], ["0s", 0], ["1.5s", 1.5]])("%s", (text, want) => expect(duration(text)).toBe(want));
  test("words without a duration stay", () => expect(left(play([{ ...trial(1), left: "long" }]), at)).toBe("long"));
  test.each([[5, "5 s"], [125, "2 min 5 s"], [120, "2 min"], [7300, "2 h 2 min"]])("%d s", (s, want) => expect(inWords(s)).toBe(want));
  test("attempts become rarer", () => expect([0, 1, 4, 20].map(patience)).toEqual([500, 1000, 8000, 10_000]));
});

describe("why a comparison says what it says", () => {
  const metric = (more: Partial<Metric>): Metric => ({ name: "rate", unit: "per second", lower_is_better: false, margin: 0.02, gate: true, effect: 2.72, low: 2.3, high: 3.1, coverage: 0, p: 1, p_adjusted: 1, verdict: "cannot tell", ...more }) as Metric;
  const result = (verdict: string, m: Partial<Metric>, paired = true): Result => ({ family: 1, alpha: 0.05, verdict, comparisons: [{ a: "1", b: "3", paired, runs_a: 2, runs_b: 2, differences: null, metrics: [metric({ verdict, ...m }), metric({ name: "p99", gate: false })], verdict }] });
  test.each([
    [result("cannot tell", { needed: 7 }), "n=3: rate × 2.72, cannot tell; it takes 7 usable blocks, and there are 2"],
    [result("cannot tell", { needed: 9, coverage: 0.98 }, false), "n=3: rate × 2.72 (2.3 to 3.1), cannot tell; it takes about 9 trials of each side, and there are 2"],
    [result("better", { coverage: 0.98 }), "n=3: rate × 2.72 (2.3 to 3.1), better"],
  ])("case %#", (r, want) => expect(because(r, (s) => `n=${s}`)).toEqual([want]));
});

describe("sides of a comparison", () => {
  const run = (id: string, variant: string) => ({ id, experiment: "e", variant, target: "t" });
  test.each([
    ["variants are sides, their runs repeats", [run("a", "1"), run("b", "2"), run("c", "1")], ["a,c", "b"]],
    ["runs of one variant stand against each other", [run("a", "1"), run("b", "1")], ["a", "b"]],
  ])("%s", (_, rows, want) => expect(sidesOf(rows)).toEqual(want));
});

const summary = { values: [], median: 1, low: 1, high: 1, coverage: 0 };
const metric = (more: Partial<Metric>): Metric => ({ name: "rate", unit: "per second", lower_is_better: false, margin: 0.02, gate: true, a: summary, b: summary, effect: 1.1, low: 1.05, high: 1.2, coverage: 0.96, p: 0.01, p_adjusted: 0.02, verdict: "better", ...more });

describe("what a comparison shows", () => {
  test.each([
    [metric({}), "× 1.1", "1.05 to 1.2"],
    [metric({ coverage: 0 }), "× 1.1", "(1.05 to 1.2)"],
    [metric({ absolute: true, unit: "ratio", effect: 0.001, low: -0.001, high: 0.002 }), "+0.1 pp", "−0.1 pp to +0.2 pp"],
    [metric({ low: 0, high: 0 }), "× 1.1", "–"],
  ])("case %#", (m, want, range) => {
    expect(effect(m, m.effect)).toBe(want);
    expect(interval(m)).toBe(range);
  });
  test("values in their units", () => expect([value("us", 1500), value("per second", 1500), value("ratio", 0.5), value("bytes", 2048)]).toEqual(["1.5 ms", "1,500", "50%", "2 KiB"]));
  test.each([["p50", 2], ["p99.9", 1000], ["p100", undefined], ["max", undefined]])("%s", (q, want) => expect(oneIn(q)).toBe(want));
  test("only ratios are in the chart of ratios, with intervals that are some", () => {
    const r: Result = { family: 1, alpha: 0.05, verdict: "better", comparisons: [{ a: "x", b: "y", differences: null, paired: false, runs_a: 1, runs_b: 1, verdict: "better", metrics: [metric({ coverage: 0 }), metric({ absolute: true }), metric({ verdict: "small change", direction: "worse" })] }] };
    expect(ratios(r, (s) => s.toUpperCase())).toMatchObject([{ variant: "Y", low: undefined }, { low: 1.05, verdict: "small change for the worse" }]);
  });
});

describe("where a metric stands", () => {
  const h = (more: Partial<History>): History => ({ experiment: "e", metric: { name: "rate", unit: "1/s", higher_is_better: true, margin: 0.02 }, points: [], levels: [{ from: 0, runs: 6, median: 1000, low: 990, high: 1010, coverage: 0.97 }], ...more });
  test.each([
    [h({ levels: [] }), "No run can be counted."],
    [h({}), "rate stands at 1,000 over 6 runs; no change was shown."],
    [h({ suspicion: { runs: 2, better: false, needed: 3 } }), "The last 2 runs may be worse; 3 more runs would tell."],
    [h({ levels: [h({}).levels[0]!, { from: 6, runs: 5, median: 900, low: 890, high: 910, coverage: 0, change: -0.1, better: false }] }), "the last of 1 change was −10%, for the worse."],
  ])("case %#", (of, want) => expect(standing(of)).toContain(want));
});

test("addresses", () => expect(query("/x", { a: "1 2", b: "", c: undefined, d: ["p", "q"], e: false, n: 3 })).toBe("/x?a=1+2&d=p&d=q&n=3"));

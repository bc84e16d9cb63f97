import { describe, expect, test } from "vitest";
import { efficiency, karpFlatt, median, spread, usl } from "./stats";

const first = (n: number) => Array.from({ length: n }, (_, i) => i + 1);

// The exact coverages of the symmetric order-statistic interval.
describe("interval of the median", () => {
  test.each([
    [6, 1, 6, 96.9], [7, 1, 7, 98.4], [8, 1, 8, 99.2], [9, 2, 8, 96.1], [10, 2, 9, 97.9], [11, 2, 10, 98.8], [12, 3, 10, 96.1], [15, 4, 12, 96.5], [20, 6, 15, 95.9], [30, 10, 21, 95.7],
  ])("%i runs", (n, low, high, coverage) => {
    const s = spread(first(n));
    expect([s.low, s.high, +(s.coverage * 100).toFixed(1)]).toEqual([low, high, coverage]);
  });
  test("fewer than six runs have a range and no interval", () => {
    expect(spread([3, 1, 2, 5, 4])).toEqual({ n: 5, median: 3, low: 1, high: 5, coverage: 0 });
  });
  test("what is not known does not count", () => {
    expect(spread([NaN, 2, Infinity]).n).toBe(1);
    expect(median([])).toBeNaN();
  });
});

describe("scaling, by known answers", () => {
  test("USL: γ = 1000, α = 0.02, β = 0.0005", () => {
    const got = [1, 2, 4, 8, 16, 32, 48, 64].map((n) => +usl(n, 1000, 0.02, 0.0005).toFixed(3));
    expect(got).toEqual([1000, 1958.864, 3752.345, 6849.315, 11267.606, 15122.873, 15645.372, 14967.259]);
  });
  test("efficiency and serial fraction", () => {
    expect(efficiency(6849.315, 8, 1000, 1)).toBeCloseTo(0.856164, 6);
    expect([2, 4, 8, 16].map((k) => +karpFlatt(usl(k, 1, 0.02, 0.0005), k).toFixed(3))).toEqual([0.021, 0.022, 0.024, 0.028]);
  });
});

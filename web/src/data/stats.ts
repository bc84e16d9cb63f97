// The little statistics that the page needs itself: medians over runs with the
// order-statistic interval of exact coverage. Percentiles are never averaged;
// a median of the percentiles of several runs is taken over the runs.

export interface Spread {
  n: number;
  median: number;
  low: number;
  high: number;
  /** Exact coverage of the interval; 0 where there is none and low and high
   * are the range (fewer than six runs). */
  coverage: number;
}

export function median(values: number[]): number {
  if (values.length === 0) return NaN;
  const s = [...values].sort((a, b) => a - b);
  const m = s.length >> 1;
  return s.length % 2 ? s[m]! : (s[m - 1]! + s[m]!) / 2;
}

/** The narrowest symmetric pair of order statistics that covers the median
 * with at least 95 %: coverage is 1 - 2 P(X < l), X binomial (n, 1/2). */
export function spread(values: number[]): Spread {
  const s = values.filter(Number.isFinite).sort((a, b) => a - b);
  const n = s.length;
  const best: Spread = { n, median: median(s), low: s[0] ?? NaN, high: s[n - 1] ?? NaN, coverage: 0 };
  let tail = 0;
  for (let l = 1; l <= n / 2; l++) {
    tail += binomial(n, l - 1);
    const coverage = 1 - 2 * tail;
    if (coverage >= 0.95) Object.assign(best, { low: s[l - 1], high: s[n - l], coverage });
  }
  return best;
}

function binomial(n: number, k: number): number {
  let p = 0;
  for (let i = 1; i <= k; i++) p += Math.log((n - k + i) / i);
  return Math.exp(p - n * Math.LN2);
}

/** The share of a rate that N units kept of N times one unit's. */
export function efficiency(rate: number, n: number, rate1: number, n1: number): number {
  return rate / n / (rate1 / n1);
}

/** Karp and Flatt's serial fraction of a speed-up S at k-fold resources. */
export function karpFlatt(speedup: number, k: number): number {
  return k <= 1 ? NaN : (1 / speedup - 1 / k) / (1 - 1 / k);
}

/** The Universal Scalability Law (Gunther 2007). */
export function usl(n: number, gamma: number, alpha: number, beta: number): number {
  return (gamma * n) / (1 + alpha * (n - 1) + beta * n * (n - 1));
}

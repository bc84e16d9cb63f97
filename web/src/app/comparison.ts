// The server's comparison in the form that tables and charts show.

import { digits, percent, rate, size, time } from "../data/format";
import type { Comparison } from "../data/types";

export interface Summary {
  values: number[] | null;
  median: number;
  low: number;
  high: number;
  coverage: number;
}

export interface Metric {
  name: string;
  unit: string;
  lower_is_better: boolean;
  absolute?: boolean;
  margin: number;
  gate: boolean;
  a: Summary;
  b: Summary;
  effect: number;
  low: number;
  high: number;
  coverage: number;
  test?: string;
  p: number;
  p_adjusted: number;
  verdict: string;
  direction?: string;
  reason?: string;
  needed?: number;
  missing?: string[] | null;
  notes?: string[] | null;
}

export interface Shift {
  quantile: string;
  a_us: number;
  b_us: number;
  ratio: number;
  low: number;
  high: number;
  coverage: number;
}

export interface Pair {
  a: string;
  b: string;
  differences: { kind: string; fact: string; a: string; b: string; breaks?: boolean }[] | null;
  paired: boolean;
  runs_a: number;
  runs_b: number;
  excluded?: { side: string; run: string; reason: string }[] | null;
  warnings?: string[] | null;
  metrics: Metric[] | null;
  distribution?: { shifts: Shift[] | null; faster: number; apart: number; apart_at_us: number } | null;
  verdict: string;
}

export interface Result {
  family: number;
  alpha: number;
  comparisons: Pair[];
  verdict: string;
}

/** A value in the words of its unit. */
export function value(unit: string, v: number): string {
  switch (unit) {
    case "us": return time(v);
    case "per second": case "1/s": return rate(v);
    case "ratio": return percent(v);
    case "bytes": return size(v);
  }
  return digits(v, 4);
}

/** What an effect is, with its sign: "× 1.02" or "+0.3 percentage points". */
export function effect(m: Pick<Metric, "absolute" | "unit">, v: number): string {
  if (!Number.isFinite(v)) return "–";
  if (!m.absolute) return `× ${digits(v, 4)}`;
  const sign = v > 0 ? "+" : v < 0 ? "−" : "±";
  return m.unit === "ratio" ? `${sign}${digits(Math.abs(v) * 100)} pp` : `${sign}${value(m.unit, Math.abs(v))}`;
}

/** The interval of an effect; in parentheses where it is only what was seen. */
export function interval(m: Metric): string {
  if (!m.low && !m.high) return "–";
  const text = `${effect(m, m.low).replace("× ", "")} to ${effect(m, m.high).replace("× ", "")}`;
  return m.coverage ? text : `(${text})`;
}

/** The figures that one looks at first: those that decide, and a few others. */
export const foremost = (m: Metric): boolean => m.gate || ["rate", "p50", "p99", "errors"].includes(m.name);

/** What is compared by ratio, for the chart of ratios: the foremost figures. */
export function ratios(r: Result, name: (side: string) => string): Comparison[] {
  return r.comparisons.flatMap((p) =>
    (p.metrics ?? []).filter((m) => foremost(m) && !m.absolute && m.effect > 0).map((m) => ({
      metric: m.name,
      variant: name(p.b),
      baseline: name(p.a),
      verdict: m.verdict === "small change" && m.direction ? `small change for the ${m.direction}` : m.verdict,
      ratio: m.effect,
      low: m.coverage ? m.low : undefined,
      high: m.coverage ? m.high : undefined,
      margin: m.margin,
      better: m.lower_is_better ? "lower" as const : "higher" as const,
    })));
}

/** Why the whole verdict is what it is: of each pair the gates that share it. */
export function because(r: Result, name: (side: string) => string): string[] {
  return r.comparisons.filter((p) => p.verdict === r.verdict).flatMap((p) =>
    (p.metrics ?? []).filter((m) => m.gate && m.verdict === p.verdict).map((m) => {
      const what = m.effect > 0 && !m.absolute ? `${m.name} × ${digits(m.effect)}${m.coverage ? ` (${digits(m.low)} to ${digits(m.high)})` : ""}` : m.name;
      const n = p.paired ? p.runs_b : Math.min(p.runs_a, p.runs_b);
      const need = m.needed ? `; it takes ${m.coverage ? "about " : ""}${m.needed} ${p.paired ? "usable blocks" : "trials of each side"}, and there ${n === 1 ? "is" : "are"} ${n}` : m.reason ? `; ${m.reason}` : "";
      return `${name(p.b)}: ${what}, ${m.verdict}${need}`;
    }));
}

/** Everything to say about a metric beyond its figures. */
export function remarks(m: Metric): string {
  const need = m.needed ? `about ${m.needed} would tell` : "";
  return [m.reason ?? "", need, ...(m.missing ?? []), ...(m.notes ?? [])].filter(Boolean).join("; ");
}

/** "p99.9" is 1000: one in so many is slower. */
export function oneIn(quantile: string): number | undefined {
  const m = /^p(\d+(?:\.\d+)?)$/.exec(quantile);
  const q = m ? Number(m[1]) / 100 : NaN;
  return q >= 0 && q < 1 ? +(1 / (1 - q)).toPrecision(6) : undefined;
}

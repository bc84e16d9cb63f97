// How long answers took: the table of percentiles of a trial, and the curve of
// percentiles over all repeats.

import { useEffect, useMemo, useState } from "preact/hooks";
import { XY, type Series } from "../charts/xy";
import { count, digits, time } from "../data/format";
import { decode } from "../data/hdr";
import { loadsOf, ran, unstable, type Row, type Shown } from "../data/model";
import { spread } from "../data/stats";
import type { Load, Summary, Trial } from "../data/types";
import { Figure, Legend, Section, Table } from "../ui/parts";
import { seriesColour } from "../ui/theme";

const QUANTILES: [string, keyof Summary, number][] = [
  ["p50", "p50_us", 0.5],
  ["p75", "p75_us", 0.75],
  ["p90", "p90_us", 0.9],
  ["p95", "p95_us", 0.95],
  ["p99", "p99_us", 0.99],
  ["p99.9", "p99_9_us", 0.999],
  ["p99.99", "p99_99_us", 0.9999],
];

export function Latency({ shown, trial }: { shown: Shown; trial: Trial }) {
  const closed = trial.load.model !== "open";
  const lead = closed
    ? "Response counts from the moment its connection was free, service from the send; lag is the difference. In the closed model this is not what independent users would see."
    : "Response counts from the planned start, service from the send; lag is the difference.";
  return (
    <Section id="latency" title="Response times" lead={lead}>
      {unstable(trial) && <p class="warning">The queue was growing in this trial: its percentiles say how long it ran, not how fast the target is. They are left out.</p>}
      {!unstable(trial) && loadsOf(trial).map((l) => <Percentiles load={l} name={caption(shown, trial, l)} />)}
      <Curves shown={shown} trial={trial} />
    </Section>
  );
}

function caption(shown: Shown, t: Trial, l: Load): string {
  return ["Percentiles", shown.experiment ? `of ${t.variant}, trial ${t.number}` : "", l.name ? `load ${l.name}` : ""].filter(Boolean).join(" ");
}

/** A percentile with fewer than ten samples beyond is marked, one with none
 * left out: chance decides it. */
function cell(s: Summary, key: keyof Summary, q: number): string {
  const beyond = s.count * (1 - q);
  if (beyond < 1) return "–";
  const v = s[key];
  if (typeof v !== "number") return "–";
  return beyond < 10 ? `~ ${time(v)}` : time(v);
}

function Percentiles({ load, name }: { load: Load; name: string }) {
  const kinds = (["response", "service", "lag", "first_byte", "failed"] as const).filter((k) => (load.latency[k]?.count ?? 0) > 0);
  const rows = kinds.map((k) => {
    const s = load.latency[k]!;
    return [k.replace("_", " "), ...QUANTILES.map(([, key, q]) => cell(s, key, q)), time(s.max_us), time(s.mean_us), time(s.stdev_us), count(s.count)];
  });
  if (rows.length === 0) return <p>No request was answered.</p>;
  const few = kinds.some((k) => QUANTILES.some(([, , q]) => { const b = load.latency[k]!.count * (1 - q); return b >= 1 && b < 10; }));
  return (
    <>
      <Table caption={name} columns={["", ...QUANTILES.map(([t]) => ({ title: t, number: true })), ...["max", "mean", "± sd", "requests"].map((title) => ({ title, number: true }))]} rows={rows} />
      {few && <p class="hint">~ fewer than ten requests beyond this percentile; – none.</p>}
    </>
  );
}

/** Shares along the curve: even steps of 1/(1-q), eight to a decade. */
export function shares(most: number): number[] {
  const all: number[] = [];
  for (let i = 0; 10 ** (i / 12) <= most * 1.0001; i++) all.push(1 - 10 ** (-i / 12));
  return all;
}

interface Curve {
  name: string;
  runs: number;
  points: { q: number; mid: number; low: number; high: number }[];
}

export const MOST_CURVES = 8;

/** The percentiles of each run, then at each share the median over the runs and
 * their interval. The curve ends where fewer than ten requests lie beyond. */
async function curve(name: string, trials: Trial[]): Promise<Curve | undefined> {
  const usable = trials.filter((t) => t.load.latency.response?.hdr);
  const all = await Promise.all(usable.map((t) => decode(t.load.latency.response!.hdr!)));
  const least = all.reduce((n, h) => Math.min(n, h.count), Infinity);
  if (!Number.isFinite(least) || least < 20) return undefined;
  const qs = shares(least / 10);
  const values = all.map((h) => h.values(qs));
  const points = qs.map((q, i) => {
    const s = spread(values.map((v) => v[i]! / 1000));
    return { q, mid: s.median, low: s.low, high: s.high };
  });
  return { name, runs: all.length, points };
}

function groups(shown: Shown, trial: Trial): { name: string; trials: Trial[] }[] {
  if (!shown.experiment) return unstable(trial) ? [] : [{ name: "response time", trials: [trial] }];
  const rows = shown.rows.filter((r: Row) => r.used.some((t) => !unstable(t)));
  return rows.slice(0, MOST_CURVES).map((r) => ({ name: r.variant.name, trials: r.used.filter((t) => ran(t) && !unstable(t)) }));
}

function Curves({ shown, trial }: { shown: Shown; trial: Trial }) {
  const all = useMemo(() => groups(shown, trial), [shown.experiment ? shown : trial]);
  return <Overlaid groups={all} hidden={shown.rows.length - MOST_CURVES} />;
}

/** The percentile curves of groups of trials over each other. */
export function Overlaid({ groups, hidden = 0 }: { groups: { name: string; trials: Trial[] }[]; hidden?: number }) {
  const [curves, setCurves] = useState<Curve[]>();
  const [problem, setProblem] = useState("");
  useEffect(() => {
    let current = true;
    Promise.all(groups.map((g) => curve(g.name, g.trials))).then(
      (all) => current && setCurves(all.filter((c): c is Curve => c !== undefined)),
      (e: unknown) => current && setProblem(e instanceof Error ? e.message : String(e)),
    );
    return () => { current = false; };
  }, [groups]);
  if (problem) return <p class="hint">The histograms cannot be shown: {problem}.</p>;
  if (!curves?.length) return null;
  return <CurveFigure curves={curves} hidden={hidden} />;
}

export const quantileName = (x: number): string => (x <= 1.01 ? "min" : `p${digits(100 * (1 - 1 / x), 6)}`);

function CurveFigure({ curves, hidden }: { curves: Curve[]; hidden: number }) {
  const most = Math.max(...curves.map((c) => 1 / (1 - c.points.at(-1)!.q)));
  const series: Series[] = curves.map((c, i) => ({
    label: c.name,
    colour: seriesColour(i),
    dash: i % 2 === 1,
    band: c.runs > 1,
    points: c.points.map((p) => ({ x: 1 / (1 - p.q), y: p.mid, low: p.low, high: p.high })),
  }));
  const ticks = [1, 2, 4, 10, 100, 1000, 1e4, 1e5, 1e6, 1e7].filter((t) => t <= most * 1.01);
  const many = curves.some((c) => c.runs > 1);
  const note = `${many ? "Line: the median over the trials of each variant; band: its interval, or the range below six trials. " : ""}The curve ends where fewer than ten requests lie beyond.${hidden > 0 ? ` ${hidden} more variants are in the table of variants.` : ""}`;
  return (
    <Figure title="Response time by percentile" note={note} behind={() => behind(curves)}>
      <XY label={describe(curves)} series={series} x={{ title: "percentile, each tenfold step to the right is one in ten of the rest", log: true, ticks, show: quantileName, low: 1, high: most }} y={{ title: "response time", log: true, show: time }} />
      {curves.length > 1 && <Legend items={series.map((s) => ({ label: s.label, colour: s.colour, dash: s.dash }))} />}
    </Figure>
  );
}

function describe(curves: Curve[]): string {
  const end = (c: Curve) => c.points.at(-1)!;
  return `Response time by percentile. ${curves.map((c) => `${c.name}: from ${time(c.points[0]!.mid)} to ${time(end(c).mid)} at p${digits(end(c).q * 100, 6)}.`).join(" ")}`;
}

function behind(curves: Curve[]) {
  const rows = curves.flatMap((c) => c.points.map((p) => [c.name, +(p.q * 100).toPrecision(8), p.mid, p.low, p.high, c.runs]));
  return { head: ["series", "percentile", "median_us", "low_us", "high_us", "runs"], rows };
}

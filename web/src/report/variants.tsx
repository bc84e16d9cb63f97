// The variants of an experiment side by side: table, every run, comparison with
// the baseline, throughput against latency, scaling.

import { Forest, verdictTone } from "../charts/forest";
import { RunDots } from "../charts/dots";
import { XY, type Series } from "../charts/xy";
import { by, count, digits, percent, rate, time } from "../data/format";
import { axes, ran, toNumber, type Axis, type Row, type Shown } from "../data/model";
import { efficiency, karpFlatt, usl, type Spread } from "../data/stats";
import type { Fit } from "../data/types";
import { Badge, Figure, Legend, Section, Table } from "../ui/parts";
import { seriesColour } from "../ui/theme";
import { half } from "./headline";

export function Variants({ shown }: { shown: Shown }) {
  const usable = shown.rows.filter((r) => r.rate.n > 0);
  const few = usable.some((r) => r.rate.n < 6);
  return (
    <Section id="variants" title="The variants" lead="Medians over the trials of each variant. Invalid trials are listed and counted in no number.">
      <Overview shown={shown} />
      {few && <p class="hint">In parentheses: the range, since fewer than six trials give no 95 % interval.</p>}
      {usable.length > 0 && (
        <Figure title="Every trial" note="Filled: valid. Hollow: suspect. Cross: invalid. The band is the interval of the median, or the range below six trials." behind={() => everyRun(shown)}>
          <RunDots rows={shown.rows} total={shown.trials.length} />
        </Figure>
      )}
      <Compared shown={shown} />
      <Tradeoff shown={shown} />
      {axes(shown).filter((a) => a.numeric && !a.ofLoad).map((a) => <Scaling shown={shown} axis={a} />)}
      <SideBySide shown={shown} />
    </Section>
  );
}

const interval = (s: Spread, show: (v: number, half: number) => string): string => {
  if (s.n < 2) return s.n ? "one trial" : "–";
  const text = `${show(s.low, half(s))}–${show(s.high, half(s))}`;
  return s.coverage ? text : `(${text})`;
};

function Overview({ shown }: { shown: Shown }) {
  const base = shown.baseline?.rate.n ? shown.baseline : shown.rows.find((r) => r.rate.n > 0);
  const rows = shown.rows.map((r) => [
    <>{r.variant.name}{r === base && <span class="tag">baseline</span>}</>,
    r.rate.n ? by(r.rate.median, half(r.rate)) : "no result",
    interval(r.rate, by),
    base && r.rate.n ? digits(r.rate.median / base.rate.median) : "–",
    time(r.p50.median),
    time(r.p99.median),
    interval(r.p99, (v) => time(v)),
    r.rate.n ? percent(r.errors) : "–",
    `${r.used.length} of ${r.trials.length}`,
    <Badge of={r.verdict} />,
  ]);
  const number = (title: string) => ({ title, number: true });
  return <Table caption="Variants" columns={["variant", number("requests/s"), number("interval"), number("× baseline"), number("p50"), number("p99"), number("p99 interval"), number("errors"), number("trials used"), "verdict"]} rows={rows} />;
}

function everyRun(shown: Shown) {
  const rows = shown.trials.map((t) => [t.number, t.block + 1, t.variant, ran(t) ? t.load.rate : null, t.load?.latency?.response?.p50_us ?? null, t.load?.latency?.response?.p99_us ?? null, t.error ? "failed" : t.validity.verdict]);
  return { head: ["trial", "block", "variant", "requests_per_second", "p50_us", "p99_us", "verdict"], rows };
}

function Compared({ shown }: { shown: Shown }) {
  const all = shown.doc.comparisons ?? [];
  if (all.length === 0) return null;
  const rows = all.map((c) => [
    c.variant,
    c.metric,
    <span class={`tone ${verdictTone(c)}`}>{c.verdict}</span>,
    c.ratio > 0 ? `× ${digits(c.ratio, 4)}` : "–", // what is compared by difference says so in its remark
    c.low && c.high ? `${digits(c.low, 4)}–${digits(c.high, 4)}` : "–",
    c.margin ? `± ${percent(c.margin)}` : "–",
    c.p === undefined ? "–" : digits(c.p),
    c.pairs ? count(c.pairs) : "–",
    [c.needed ? `about ${count(c.needed)} ${c.pairs ? "blocks" : "trials of each side"} in all would tell` : "", c.note ?? ""].filter(Boolean).join("; "),
  ]);
  const number = (title: string) => ({ title, number: true });
  return (
    <>
      <Figure title="Against the baseline" note="Grey: the margin within which two variants count as the same." behind={() => ({ head: ["variant", "metric", "verdict", "ratio", "low", "high", "margin", "p", "test"], rows: all.map((c) => [c.variant, c.metric, c.verdict, c.ratio, c.low, c.high, c.margin, c.p, c.test]) })}>
        <Forest all={all} />
      </Figure>
      <Table caption={`Compared with ${all[0]!.baseline}`} columns={["variant", "metric", "verdict", number("ratio"), number("interval"), number("margin"), number("p"), number("pairs"), "remark"]} rows={rows} />
    </>
  );
}

/** Throughput against latency: a line where the load is what varies. */
function Tradeoff({ shown }: { shown: Shown }) {
  const rows = shown.rows.filter((r) => r.rate.n > 0 && r.p99.n > 0);
  if (rows.length < 2) return null;
  const axis = axes(shown).find((a) => a.ofLoad && a.numeric);
  const ordered = axis ? [...rows].sort((a, b) => valueOf(a, axis) - valueOf(b, axis)) : rows;
  const name = (r: Row) => (axis ? (r.variant.values?.[axis.name] ?? "") : rows.length <= 6 ? r.variant.name : "");
  const point = (r: Row, s: Spread, label: string) => ({ x: r.rate.median, y: s.median, low: s.n > 1 ? s.low : undefined, high: s.n > 1 ? s.high : undefined, xlow: r.rate.n > 1 ? r.rate.low : undefined, xhigh: r.rate.n > 1 ? r.rate.high : undefined, hollow: r.verdict !== "valid", label });
  const line = axis !== undefined && axes(shown).length === 1;
  const series: Series[] = [
    { label: "p99", colour: "--series-1", dots: true, line, points: ordered.map((r) => point(r, r.p99, name(r))) },
    { label: "p50", colour: "--series-2", dots: true, line, dash: true, points: ordered.map((r) => point(r, r.p50, "")) },
  ];
  const words = ordered.map((r) => `${r.variant.name}: ${rate(r.rate.median)} a second at p50 ${time(r.p50.median)} and p99 ${time(r.p99.median)}.`).join(" ");
  return (
    <Figure title="Throughput and response time" note={`${axis ? `Beside each point: ${axis.name}. ` : ""}Hollow: suspect. Bars: interval, or range below six trials.`} behind={() => ({ head: ["variant", "requests_per_second", "p50_us", "p99_us"], rows: ordered.map((r) => [r.variant.name, r.rate.median, r.p50.median, r.p99.median]) })}>
      <XY label={`Throughput and response time. ${words}`} series={series} x={{ title: "requests/s", show: rate }} y={{ title: "response time", log: true, show: time }} />
      <Legend items={series.map((s) => ({ label: s.label, colour: s.colour, dash: s.dash && line, shape: line ? "line" : "dot" }))} />
    </Figure>
  );
}

const valueOf = (r: Row, a: Axis) => toNumber(r.variant.values?.[a.name]) ?? 0;

/** Rows that differ in nothing but the axis. */
export function scalingGroups(shown: Shown, axis: Axis): Map<string, Row[]> {
  const groups = new Map<string, Row[]>();
  for (const r of shown.rows.filter((r) => r.rate.n > 0)) {
    const rest = Object.entries(r.variant.values ?? {}).filter(([k]) => k !== axis.name).map(([k, v]) => `${k}=${v}`).join(", ");
    groups.set(rest, [...(groups.get(rest) ?? []), r]);
  }
  for (const rows of groups.values()) rows.sort((a, b) => valueOf(a, axis) - valueOf(b, axis));
  return groups;
}

function Scaling({ shown, axis }: { shown: Shown; axis: Axis }) {
  const groups = [...scalingGroups(shown, axis)].filter(([, rows]) => rows.length > 1).slice(0, 4);
  if (groups.length === 0) return null;
  const fits = (shown.doc.fits ?? []).filter((f) => f.axis === axis.name);
  const series = groups.flatMap(([name, rows], i) => scalingSeries(name, rows, axis, i, fits.find((f) => (f.group ?? "") === name)));
  const words = groups.map(([name, rows]) => `${name} ${rows.map((r) => `${r.variant.values?.[axis.name]}: ${rate(r.rate.median)} a second`).join(", ")}.`).join(" ");
  const notes = fits.map((f) => f.note ?? `Fit: contention α ${digits(f.alpha)}, coherency β ${digits(f.beta)}${f.peak_at ? `, peak near ${digits(f.peak_at)}` : ""}.`);
  return (
    <>
      <Figure title={`Scaling with ${axis.name}`} note={notes.join(" ") || "Dashed: what perfect scaling from the smallest value would give."} behind={() => ({ head: [axis.name, "group", "requests_per_second", "low", "high"], rows: groups.flatMap(([name, rows]) => rows.map((r) => [valueOf(r, axis), name, r.rate.median, r.rate.low, r.rate.high])) })}>
        <XY label={`Scaling with ${axis.name}. ${words}`} series={series} x={{ title: axis.name, show: (v) => digits(v), ticks: axis.values.map((v) => toNumber(v)!), high: Math.max(...axis.values.map((v) => toNumber(v)!)) * 1.08 }} y={{ title: "requests/s", show: rate }} />
        <Legend items={series.map((s) => ({ label: s.label, colour: s.colour, dash: s.dash }))} />
      </Figure>
      <Efficiency groups={groups} axis={axis} />
    </>
  );
}

function scalingSeries(name: string, rows: Row[], axis: Axis, i: number, fit: Fit | undefined): Series[] {
  const first = rows[0]!;
  const n1 = valueOf(first, axis);
  const last = valueOf(rows.at(-1)!, axis);
  const of = name ? `${name}: ` : "";
  const out: Series[] = [
    { label: `${of}perfect`, colour: "--muted", dash: true, points: [n1, last].map((n) => ({ x: n, y: (first.rate.median / n1) * n })) },
    { label: `${of}measured`, colour: seriesColour(i), dots: true, points: rows.map((r) => ({ x: valueOf(r, axis), y: r.rate.median, low: r.rate.n > 1 ? r.rate.low : undefined, high: r.rate.n > 1 ? r.rate.high : undefined, hollow: r.verdict !== "valid" })) },
  ];
  if (fit) {
    const steps = Array.from({ length: 41 }, (_, k) => n1 + ((last - n1) * k) / 40);
    out.push({ label: `${of}USL fit`, colour: seriesColour(i + 2), dash: true, points: steps.map((n) => ({ x: n, y: usl(n, fit.gamma, fit.alpha, fit.beta) })) });
  }
  return out;
}

function Efficiency({ groups, axis }: { groups: [string, Row[]][]; axis: Axis }) {
  const grouped = groups.length > 1;
  const rows = groups.flatMap(([name, all]) => {
    const first = all[0]!;
    const n1 = valueOf(first, axis);
    return all.map((r) => {
      const n = valueOf(r, axis);
      const k = n / n1;
      const s = r.rate.median / first.rate.median;
      return [r.variant.values?.[axis.name] ?? "", ...(grouped ? [name || "–"] : []), by(r.rate.median, half(r.rate)), digits(s), percent(efficiency(r.rate.median, n, first.rate.median, n1)), k > 1 ? digits(karpFlatt(s, k)) : "–"];
    });
  });
  const number = (title: string) => ({ title, number: true });
  return <Table caption={`Efficiency by ${axis.name}`} columns={[axis.name, ...(grouped ? ["group"] : []), number("requests/s"), number("speed-up"), number("efficiency"), number("serial fraction (Karp–Flatt)")]} rows={rows} />;
}

function SideBySide({ shown }: { shown: Shown }) {
  const rows = shown.rows.flatMap((r) => {
    const t = r.typical;
    return t?.also?.length ? [t.load, ...t.also].map((l) => [r.variant.name, l.name || "load", rate(l.rate), time(l.latency.response?.p50_us), time(l.latency.response?.p99_us)]) : [];
  });
  if (rows.length === 0) return null;
  const number = (title: string) => ({ title, number: true });
  return <Table caption="Loads side by side, in the typical trial of each variant" columns={["variant", "load", number("requests/s"), number("p50"), number("p99")]} rows={rows} />;
}

// The variants at a glance, small, on the first screen: rate over what was varied
// where that is one number, else a bar for each variant.

import { XY, type Series } from "../charts/xy";
import { by, digits, rate } from "../data/format";
import { axes, toNumber, type Axis, type Row, type Shown } from "../data/model";

const MOST_BARS = 8;

export function Glance({ shown }: { shown: Shown }) {
  const rows = shown.rows.filter((r) => r.rate.n > 0);
  const all = axes(shown);
  if (rows.length < 2) return null;
  if (all.length === 1 && all[0]!.numeric) return <Curve rows={rows} axis={all[0]!} />;
  return rows.length <= MOST_BARS ? <Bars rows={rows} /> : null;
}

const valueOf = (r: Row, a: Axis): number => toNumber(r.variant.values?.[a.name]) ?? 0;

function Curve({ rows: given, axis }: { rows: Row[]; axis: Axis }) {
  const rows = [...given].sort((a, b) => valueOf(a, axis) - valueOf(b, axis));
  const first = rows[0]!;
  const last = rows.at(-1)!;
  const perfect = (r: Row) => (first.rate.median / valueOf(first, axis)) * valueOf(r, axis);
  const line = !axis.ofLoad && perfect(last) < 4 * last.rate.median;
  const series: Series[] = [
    ...(line ? [{ label: "perfect", colour: "--muted", dash: true, points: [first, last].map((r) => ({ x: valueOf(r, axis), y: perfect(r) })) }] : []),
    { label: "measured", colour: "--series-1", dots: true, points: rows.map((r) => ({ x: valueOf(r, axis), y: r.rate.median, low: r.rate.n > 1 ? r.rate.low : undefined, high: r.rate.n > 1 ? r.rate.high : undefined, hollow: r.verdict !== "valid", label: rows.length <= 6 ? by(r.rate.median, (r.rate.high - r.rate.low) / 2) : undefined })) },
  ];
  const words = rows.map((r) => `${axis.name} ${r.variant.values?.[axis.name]}: ${rate(r.rate.median)}`).join(", ");
  const top = Math.max(...series.flatMap((s) => s.points.map((p) => Math.max(p.y, ("high" in p ? p.high : undefined) ?? 0))));
  return (
    <div class="glance">
      <p class="hint">Medians by {axis.name}{line ? "; dashed: perfect scaling" : ""}</p>
      <XY label={`Requests a second by ${axis.name}. ${words}`} series={series} height={148} y={{ title: "requests/s", show: rate, high: top * 1.22, ticks: undefined }} x={{ title: axis.name, show: (v) => digits(v), log: axis.ofLoad, ticks: rows.map((r) => valueOf(r, axis)), low: axis.ofLoad ? valueOf(first, axis) * 0.9 : 0, high: valueOf(last, axis) * (axis.ofLoad ? 1.15 : 1.1) }} />
    </div>
  );
}

function Bars({ rows }: { rows: Row[] }) {
  const most = Math.max(...rows.map((r) => r.rate.median));
  return (
    <table class="glance bars" aria-label="Requests a second of each variant">
      <tbody>
        {rows.map((r) => (
          <tr>
            <th scope="row">{r.variant.name}</th>
            <td><svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true"><rect width={(100 * r.rate.median) / most} height="10" rx="1" /></svg></td>
            <td class="number">{by(r.rate.median, (r.rate.high - r.rate.low) / 2)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

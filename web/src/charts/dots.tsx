// Every trial as a dot in the order in which they ran, with the median and its
// interval behind: repeats that drift or disagree are seen at once. Invalid
// trials are crosses: listed, never counted.

import { rate } from "../data/format";
import { ran, type Row } from "../data/model";
import { seriesColour } from "../ui/theme";
import { linear } from "./scale";
import { useWidth } from "./size";

const LEFT_MOST = 190;
const ROW = 42;

export function RunDots({ rows, total }: { rows: Row[]; total: number }) {
  const { ref, width } = useWidth();
  const left = Math.min(LEFT_MOST, Math.max(90, width * 0.24));
  const right = width - 20;
  const height = rows.length * ROW + 48;
  const most = Math.max(...rows.flatMap((r) => r.trials.filter(ran).map((t) => t.load.rate)), 1);
  const x = linear(0, most * 1.04, left, right, width < 500 ? 3 : 6);
  return (
    <div ref={ref} class="chart">
      <svg role="img" aria-label={words(rows)} viewBox={`0 0 ${width} ${height}`} width="100%" height={height}>
        <g class="grid">
          {x.ticks.map((t) => (
            <g>
              <path d={`M${x(t)} 4V${height - 40}`} class="rule" />
              <text x={x(t)} y={height - 24} text-anchor="middle">{rate(t)}</text>
            </g>
          ))}
          <text x={(left + right) / 2} y={height - 5} text-anchor="middle" class="title">requests/s; in each row the first trial is at the top</text>
        </g>
        {rows.map((r, i) => <OneRow r={r} i={i} left={left} x={x} total={total} />)}
      </svg>
    </div>
  );
}

function words(rows: Row[]): string {
  return `Requests a second of every trial. ${rows.map((r) => (r.rate.n ? `${r.variant.name}: ${r.rate.n} trials, median ${rate(r.rate.median)}, from ${rate(r.rate.low)} to ${rate(r.rate.high)}.` : `${r.variant.name}: no usable trial.`)).join(" ")}`;
}

function OneRow({ r, i, left, x, total }: { r: Row; i: number; left: number; x: (v: number) => number; total: number }) {
  const top = i * ROW + 6;
  const middle = top + ROW / 2 - 3;
  const colour = seriesColour(i);
  const place = (n: number) => top + 5 + (total > 1 ? ((n - 1) / (total - 1)) * (ROW - 16) : (ROW - 16) / 2);
  return (
    <g style={{ color: `var(${colour})` }}>
      <text x={left - 10} y={middle + 4} text-anchor="end" class="label">{short(r.variant.name, left)}<title>{r.variant.name}</title></text>
      {r.rate.n > 0 && (
        <g>
          <rect x={x(r.rate.low)} y={top} width={Math.max(1, x(r.rate.high) - x(r.rate.low))} height={ROW - 6} class="band" fill="currentColor" rx="3" />
          <path d={`M${x(r.rate.median)} ${top}v${ROW - 6}`} stroke="currentColor" stroke-width="3" />
        </g>
      )}
      {r.trials.filter(ran).map((t) => {
        const at = { x: x(t.load.rate), y: place(t.number) };
        const text = `trial ${t.number}: ${rate(t.load.rate)} requests/s, ${t.validity.verdict}`;
        if (t.validity.verdict === "invalid") {
          return <path d={`M${at.x - 4} ${at.y - 4}l8 8m0-8l-8 8`} class="cross" stroke-width="1.8"><title>{text}</title></path>;
        }
        return (
          <circle cx={at.x} cy={at.y} r="4" stroke="currentColor" stroke-width="1.6" style={{ fill: t.validity.verdict === "suspect" ? "var(--card)" : "currentColor" }}>
            <title>{text}</title>
          </circle>
        );
      })}
    </g>
  );
}

const short = (name: string, left: number) => {
  const most = Math.floor((left - 14) / 7);
  return name.length > most ? `${name.slice(0, most - 1)}…` : name;
};

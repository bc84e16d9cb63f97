// A metric over the runs of a variant: every run a dot, the levels between
// changes as lines with their intervals, the baseline as a band.

import { linear } from "./scale";
import { useWidth } from "./size";

export interface HistoryPoint {
  value: number;
  verdict: string;
  title: string;
}

export interface HistoryLevel {
  from: number;
  runs: number;
  median: number;
  low: number;
  high: number;
  better?: boolean;
}

interface HistoryOf {
  label: string;
  points: HistoryPoint[];
  levels: HistoryLevel[];
  baseline?: { low: number; high: number; median: number };
  dates: string[];
  show: (v: number) => string;
  height?: number;
}

const M = { top: 14, right: 20, bottom: 40, left: 70 };

export function HistoryChart({ label, points, levels, baseline, dates, show, height = 300 }: HistoryOf) {
  const { ref, width } = useWidth();
  const right = Math.max(width - M.right, M.left + 60);
  const values = [...points.map((p) => p.value), ...levels.flatMap((l) => [l.low, l.high]), ...(baseline ? [baseline.low, baseline.high] : [])].filter(Number.isFinite);
  const [low, high] = [Math.min(...values), Math.max(...values)];
  // From zero where that costs little; else around the values, so that a change shows.
  const pad = (high - low || Math.abs(high) || 1) * 0.15;
  const y = linear(low > 0 && low < high * 0.4 ? 0 : Math.max(low >= 0 ? 0 : -Infinity, low - pad), high + pad, height - M.bottom, M.top);
  const step = (right - M.left) / Math.max(points.length, 1);
  const x = (i: number) => M.left + (i + 0.5) * step;
  const every = Math.max(1, Math.ceil(points.length / (width < 560 ? 3 : 7)));
  const bottom = height - M.bottom;
  return (
    <div ref={ref} class="chart">
      <svg role="img" aria-label={label} viewBox={`0 0 ${width} ${height}`} width="100%" height={height}>
        {y.ticks.map((t) => (
          <g>
            <path d={`M${M.left} ${y(t)}H${right}`} class="rule" />
            <text x={M.left - 8} y={y(t) + 4} text-anchor="end">{show(t)}</text>
          </g>
        ))}
        {dates.map((d, i) => i % every === 0 && <text x={x(i)} y={bottom + 18} text-anchor="middle">{d}</text>)}
        <path d={`M${M.left} ${bottom}H${right}`} class="axis" />
        <text x={(M.left + right) / 2} y={height - 4} text-anchor="middle" class="title">runs, oldest first</text>
        {baseline && (
          <g style={{ fill: "var(--series-3)", stroke: "var(--series-3)" }}>
            <rect class="band" x={M.left} width={right - M.left} y={y(baseline.high)} height={Math.max(2, y(baseline.low) - y(baseline.high))} />
            <path d={`M${M.left} ${y(baseline.median)}H${right}`} stroke-dasharray="6 4" fill="none" stroke-width="1.5" />
          </g>
        )}
        {levels.map((l, i) => <Level l={l} first={i === 0} from={M.left + l.from * step} to={M.left + (l.from + l.runs) * step} y={y} bottom={bottom} />)}
        {points.map((p, i) => (
          <g>
            <title>{p.title}</title>
            <circle cx={x(i)} cy={y(p.value)} r={points.length > 120 ? 2.5 : 4} stroke-width="1.8" style={{ fill: p.verdict === "valid" ? "var(--series-1)" : "var(--card)", stroke: "var(--series-1)" }} />
          </g>
        ))}
      </svg>
    </div>
  );
}

interface LevelOf {
  l: HistoryLevel;
  first: boolean;
  from: number;
  to: number;
  y: (v: number) => number;
  bottom: number;
}

function Level({ l, first, from, to, y, bottom }: LevelOf) {
  return (
    <g style={{ stroke: "var(--series-2)", fill: "var(--series-2)" }}>
      <rect class="band" x={from} width={Math.max(0, to - from)} y={y(l.high)} height={Math.max(1, y(l.low) - y(l.high))} />
      <path d={`M${from} ${y(l.median)}H${to}`} stroke-width="2" fill="none" />
      {!first && (
        <g class={`change ${l.better ? "tone good" : "tone bad"}`}>
          <path d={`M${from} ${M.top}V${bottom}`} stroke="currentColor" stroke-width="1.5" stroke-dasharray="3 3" fill="none" />
          <path d={l.better ? `M${from - 5} ${M.top + 8}L${from} ${M.top}L${from + 5} ${M.top + 8}Z` : `M${from - 5} ${M.top}L${from} ${M.top + 8}L${from + 5} ${M.top}Z`} fill="currentColor" stroke="none" />
        </g>
      )}
    </g>
  );
}

// Ratios against the baseline with their intervals, and the band of what counts
// as the same.

import type { Comparison } from "../data/types";
import { digits } from "../data/format";
import { useWidth } from "./size";

const ROW = 30;

export const verdictTone = (c: Comparison): "good" | "bad" | "plain" => {
  const word = c.verdict.toLowerCase();
  if (/better|improved/.test(word)) return "good";
  return /worse|regressed/.test(word) ? "bad" : "plain";
};

/** A ratio of zero or none at all has no place on a logarithmic axis. */
export function Forest({ all: given }: { all: Comparison[] }) {
  const all = given.filter((c) => c.ratio > 0 && Number.isFinite(c.ratio));
  const { ref, width } = useWidth();
  const narrow = width < 560; // there the words beside the chart say which way is better
  const label = (c: Comparison): string => `${c.variant} · ${c.metric}${c.better && !narrow ? ` (${c.better} is better)` : ""}`;
  const left = Math.min(Math.max(...all.map((c) => label(c).length), 0) * 6.4 + 18, width * 0.42);
  const right = width - 64;
  const height = all.length * ROW + 44;
  const ends = all.flatMap((c) => [c.ratio, c.low ?? c.ratio, c.high ?? c.ratio, 1 + (c.margin ?? 0), 1 / (1 + (c.margin ?? 0))]).filter((v) => v > 0);
  const logs = ends.map(Math.log);
  const pad = Math.max(...logs.map(Math.abs), 0.03) * 0.12;
  const low = Math.min(...logs, 0) - pad;
  const high = Math.max(...logs, 0) + pad;
  const x = (v: number) => left + ((Math.log(v) - low) / (high - low)) * (right - left);
  const ticks = ticksFor(low, high, width < 560 ? 3 : 7);
  return (
    <div ref={ref} class="chart">
      <svg role="img" aria-label={all.map((c) => `${c.variant}, ${c.metric}: ${digits(c.ratio)} times the baseline, ${c.verdict}.`).join(" ")} viewBox={`0 0 ${width} ${height}`} width="100%" height={height}>
        <g class="grid">
          {ticks.map((t) => (
            <g>
              <path d={`M${x(t)} 2V${height - 38}`} class={t === 1 ? "axis" : "rule"} />
              <text x={x(t)} y={height - 22} text-anchor="middle">×{digits(t)}</text>
            </g>
          ))}
          <text x={(left + right) / 2} y={height - 4} text-anchor="middle" class="title">ratio to the baseline, logarithmic</text>
        </g>
        {all.map((c, i) => (
          <g class={`tone ${verdictTone(c)}`}>
            <text x={left - 10} y={i * ROW + 20} text-anchor="end" class="label">{short(label(c), left)}<title>{label(c)}</title></text>
            {c.margin && <rect x={x(1 / (1 + c.margin))} y={i * ROW + 4} width={x(1 + c.margin) - x(1 / (1 + c.margin))} height={ROW - 8} class="same" />}
            {c.low && c.high && <path d={`M${x(c.low)} ${i * ROW + 15}H${x(c.high)}`} stroke="currentColor" stroke-width="3" />}
            <circle cx={x(c.ratio)} cy={i * ROW + 15} r="5" fill="currentColor" />
            <text x={x(Math.max(c.ratio, c.high ?? 0)) + 9} y={i * ROW + 19} class="point">×{digits(c.ratio)}</text>
          </g>
        ))}
      </svg>
    </div>
  );
}

const short = (text: string, left: number): string => {
  const most = Math.floor((left - 14) / 6.2);
  return text.length > most ? `${text.slice(0, Math.max(most - 1, 1))}…` : text;
};

/** Round ratios on both sides of 1. */
function ticksFor(low: number, high: number, many: number): number[] {
  const span = Math.exp(high) - Math.exp(low);
  const step = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10].find((s) => span / s <= many) ?? 20;
  const all: number[] = [];
  for (let t = 1; t > Math.exp(low) && t > 0; t -= step) all.unshift(t);
  for (let t = 1 + step; t < Math.exp(high); t += step) all.push(t);
  return all.map((t) => +t.toPrecision(6));
}

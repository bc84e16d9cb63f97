// A chart of points and lines over two axes, as SVG: percentile curves,
// throughput against latency, scaling. It prints sharply, follows the theme by
// itself, and is described in words beside it.

import { linear, log, logBounds, type Scale } from "./scale";
import { useWidth } from "./size";

export interface Point {
  x: number;
  y: number;
  low?: number;
  high?: number;
  xlow?: number;
  xhigh?: number;
  hollow?: boolean;
  label?: string;
}

export interface Series {
  label: string;
  colour: string; // custom property
  points: Point[];
  dash?: boolean;
  dots?: boolean;
  line?: boolean;
  /** Fill between low and high of the points. */
  band?: boolean;
}

export interface AxisOf {
  title: string;
  log?: boolean;
  show: (v: number) => string;
  ticks?: number[];
  low?: number;
  high?: number;
}

const MARGIN = { top: 10, right: 30, bottom: 44, left: 66 };

export function XY({ label, series, x, y, height = 320 }: { label: string; series: Series[]; x: AxisOf; y: AxisOf; height?: number }) {
  const { ref, width } = useWidth();
  const right = Math.max(width - MARGIN.right, MARGIN.left + 50);
  const sx = scale(x, series.flatMap((s) => s.points.flatMap((p) => [p.x, p.xlow, p.xhigh])), MARGIN.left, right);
  const sy = scale(y, series.flatMap((s) => s.points.flatMap((p) => [p.y, p.low, p.high])), height - MARGIN.bottom, MARGIN.top);
  return (
    <div ref={ref} class="chart">
      <svg role="img" aria-label={label} viewBox={`0 0 ${width} ${height}`} width="100%" height={height}>
        <Grid x={x} y={y} sx={sx} sy={sy} right={right} bottom={height - MARGIN.bottom} narrow={width < 480} />
        {series.map((s) => <Lines s={s} sx={sx} sy={sy} />)}
        {series.map((s) => <Dots s={s} sx={sx} sy={sy} />)}
      </svg>
    </div>
  );
}

function scale(a: AxisOf, values: (number | undefined)[], from: number, to: number): Scale {
  const v = values.filter((n): n is number => n !== undefined && Number.isFinite(n));
  if (a.log) {
    const [low, high] = logBounds(v);
    return log(a.low ?? low, a.high ?? high, from, to);
  }
  return linear(a.low ?? 0, a.high ?? Math.max(...v, 0) * 1.05, from, to);
}

interface GridOf {
  x: AxisOf;
  y: AxisOf;
  sx: Scale;
  sy: Scale;
  right: number;
  bottom: number;
  narrow: boolean;
}

function Grid({ x, y, sx, sy, right, bottom, narrow }: GridOf) {
  const all = (x.ticks ?? sx.ticks).filter((t) => t >= sx.low * 0.999 && t <= sx.high * 1.001);
  const xticks = narrow && all.length > 5 ? all.filter((_, i) => i % 2 === 0) : all;
  return (
    <g class="grid">
      {sy.ticks.map((t) => (
        <g>
          <path d={`M${MARGIN.left} ${sy(t)}H${right}`} class="rule" />
          <text x={MARGIN.left - 8} y={sy(t) + 4} text-anchor="end">{y.show(t)}</text>
        </g>
      ))}
      {xticks.map((t) => (
        <g>
          <path d={`M${sx(t)} ${MARGIN.top}V${bottom}`} class="rule faint" />
          <text x={sx(t)} y={bottom + 18} text-anchor="middle">{x.show(t)}</text>
        </g>
      ))}
      <path d={`M${MARGIN.left} ${bottom}H${right}`} class="axis" />
      <text x={(MARGIN.left + right) / 2} y={bottom + 38} text-anchor="middle" class="title">{x.title}</text>
      <text transform={`translate(13 ${(MARGIN.top + bottom) / 2}) rotate(-90)`} text-anchor="middle" class="title">{y.title}</text>
    </g>
  );
}

const f = (n: number) => n.toFixed(1);

function Lines({ s, sx, sy }: { s: Series; sx: Scale; sy: Scale }) {
  const points = s.points.filter((p) => Number.isFinite(p.y));
  if (points.length < 2) return null;
  const path = points.map((p, i) => `${i ? "L" : "M"}${f(sx(p.x))} ${f(sy(p.y))}`).join("");
  const over = points.map((p, i) => `${i ? "L" : "M"}${f(sx(p.x))} ${f(sy(p.high ?? p.y))}`).join("");
  const under = [...points].reverse().map((p) => `L${f(sx(p.x))} ${f(sy(p.low ?? p.y))}`).join("");
  const colour = `var(${s.colour})`;
  return (
    <g>
      {s.band && <path d={`${over}${under}Z`} style={{ fill: colour }} class="band" />}
      {s.line !== false && <path d={path} fill="none" style={{ stroke: colour }} stroke-width="2" stroke-linejoin="round" stroke-dasharray={s.dash ? "6 4" : undefined} />}
    </g>
  );
}

function Dots({ s, sx, sy }: { s: Series; sx: Scale; sy: Scale }) {
  if (!s.dots) return null;
  const colour = `var(${s.colour})`;
  return (
    <g style={{ stroke: colour }}>
      {s.points.filter((p) => Number.isFinite(p.y)).map((p) => (
        <g>
          {p.low !== undefined && p.high !== undefined && !s.band && <path d={`M${f(sx(p.x))} ${f(sy(p.low))}V${f(sy(p.high))}`} stroke-width="2" class="whisker" />}
          {p.xlow !== undefined && p.xhigh !== undefined && <path d={`M${f(sx(p.xlow))} ${f(sy(p.y))}H${f(sx(p.xhigh))}`} stroke-width="2" class="whisker" />}
          <circle cx={f(sx(p.x))} cy={f(sy(p.y))} r="4.5" stroke-width="2" style={{ fill: p.hollow ? "var(--card)" : colour }}>
            {p.label && <title>{p.label}</title>}
          </circle>
          {p.label && <text x={sx(p.x)} y={sy(p.y) - 10} text-anchor="middle" class="point">{p.label}</text>}
        </g>
      ))}
    </g>
  );
}

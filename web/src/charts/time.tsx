// A chart over the time of a trial, by uPlot: all of them share one axis, one
// cursor, the shade of the warm-up and the marks of the worst seconds.

import { useLayoutEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { count, digits, percent, rate, size, time } from "../data/format";
import type { Line, Panel } from "../data/series";
import { colour, seriesColour, useTheme } from "../ui/theme";
import { logTicks } from "./scale";
import { useWidth } from "./size";

export interface Frame {
  /** Seconds from the start of the window. */
  from: number;
  to: number;
  window: number;
  marks: number[];
}

export const show: Record<Panel["unit"], (v: number) => string> = {
  rate,
  time,
  share: percent,
  cores: (v) => digits(v),
  size,
  "size/s": (v) => `${size(v)}/s`,
  count,
};

const AXIS_WIDTH = 66;

/** Steps of an axis of bytes: powers of two, so that its labels are round. */
const BYTES = Array.from({ length: 46 }, (_, i) => 2 ** i);
const FONT = "12px system-ui, sans-serif";

export function TimeChart({ panel, frame, height = 180 }: { panel: Panel; frame: Frame; height?: number }) {
  const { ref, width } = useWidth();
  const chart = useRef<uPlot | undefined>(undefined);
  const theme = useTheme();
  const now = useRef<Now>({ panel, frame }).current;
  const drawn = useRef(panel);
  Object.assign(now, { panel, frame });
  useLayoutEffect(() => {
    const el = ref.current;
    if (!el) return;
    const u = new uPlot(options(now, el.clientWidth || width, height), data(panel.lines), el);
    chart.current = u;
    return () => u.destroy();
  }, [structure(panel), theme]);
  useLayoutEffect(() => {
    if (drawn.current === panel) return;
    drawn.current = panel;
    chart.current?.setData(data(panel.lines));
  }, [panel, frame]);
  useLayoutEffect(() => chart.current?.setSize({ width, height }), [width, height]);
  const label = `${panel.title}, over time. ${panel.lines.map((l) => describe(l, panel)).join(" ")}`;
  return <div ref={ref} class="chart time" role="img" aria-label={label} style={{ minHeight: `${height}px` }} />;
}

/** What a chart shows now: with new figures of the same series it goes on, and is
 * not made anew. */
interface Now {
  panel: Panel;
  frame: Frame;
}

const structure = (p: Panel): string => JSON.stringify([p.id, p.unit, p.log, p.lines.map((l) => [l.label, l.x.length > 0])]);

/** A series in words, for who does not see it. */
function describe(l: Line, p: Panel): string {
  const known = l.y.filter((v): v is number => v !== null && Number.isFinite(v));
  if (known.length === 0) return `${l.label}: nothing known.`;
  const low = known.reduce((a, b) => Math.min(a, b));
  const high = known.reduce((a, b) => Math.max(a, b));
  return `${l.label}: from ${show[p.unit](low)} to ${show[p.unit](high)}.`;
}

/** Series of different times on one axis. */
function data(lines: Line[]): uPlot.AlignedData {
  const tables = lines.filter((l) => l.x.length > 0).map((l) => [l.x, l.y.slice(0, l.x.length)] as uPlot.AlignedData);
  return tables.length ? uPlot.join(tables) : [[]];
}

function options(now: Now, width: number, height: number): uPlot.Options {
  const { panel } = now;
  const shown = panel.lines.filter((l) => l.x.length > 0);
  return {
    width,
    height,
    legend: { show: false },
    cursor: { sync: { key: "prony" }, y: false, drag: { x: false, y: false } },
    scales: {
      x: { time: false, range: () => [now.frame.from, now.frame.to] },
      y: panel.log ? { distr: 3, range: (_u, low, high) => around(low, high) } : { range: (_u, _low, high) => [0, Math.max((high || 0) * 1.08, now.panel.top ?? 0, 1e-9)] },
    },
    axes: [axis(), { ...axis(), size: AXIS_WIDTH, values: (_u, v) => v.map((t) => (t === null ? "" : show[panel.unit](t))), ...(panel.log ? { splits: (_u, _i, low, high) => logTicks(low, high), filter: (_u, v) => v } : {}), ...(panel.unit.startsWith("size") ? { incrs: BYTES } : {}) }],
    series: [{}, ...shown.map((l) => series(l, panel.lines.indexOf(l)))],
    hooks: { drawClear: [(u) => shade(u, now.frame)], draw: [(u) => marks(u, now.frame)], setCursor: [(u) => readout(u, now.panel)] },
    plugins: [],
  };
}

function around(low: number, high: number): [number, number] {
  if (!(low > 0) || !(high > 0)) return [1, 10];
  return [low / 1.3, Math.max(high * 1.3, low * 3)];
}

function axis(): uPlot.Axis {
  return {
    stroke: () => colour("--muted"),
    font: FONT,
    grid: { stroke: () => colour("--rule"), width: 1 },
    ticks: { show: false },
    values: (_u, v) => v.map((t) => `${t} s`),
    size: 28,
  };
}

function series(l: Line, i: number): uPlot.Series {
  const few = l.x.length < 3;
  return {
    label: l.label,
    stroke: () => colour(seriesColour(i)),
    width: 2,
    dash: l.dash ? [6, 4] : undefined,
    points: { show: few, size: 6 },
    spanGaps: false,
  };
}

/** Time outside the window is shaded: what happened there counts in no number. */
function shade(u: uPlot, frame: Frame): void {
  const { ctx, bbox } = u;
  const at = (s: number) => Math.min(Math.max(u.valToPos(s, "x", true), bbox.left), bbox.left + bbox.width);
  ctx.save();
  ctx.fillStyle = colour("--shade");
  ctx.fillRect(bbox.left, bbox.top, at(0) - bbox.left, bbox.height);
  const end = at(frame.window);
  ctx.fillRect(end, bbox.top, bbox.left + bbox.width - end, bbox.height);
  ctx.restore();
}

function marks(u: uPlot, frame: Frame): void {
  const { ctx, bbox } = u;
  ctx.save();
  ctx.fillStyle = colour("--mark");
  const half = 4 * devicePixelRatio;
  for (const m of frame.marks) {
    const x = u.valToPos(m, "x", true);
    ctx.globalAlpha = 0.16;
    ctx.fillRect(x - half / 2, bbox.top, half, bbox.height);
    ctx.globalAlpha = 1;
    ctx.beginPath();
    ctx.moveTo(x - half, bbox.top);
    ctx.lineTo(x + half, bbox.top);
    ctx.lineTo(x, bbox.top + half * 1.6);
    ctx.fill();
  }
  ctx.restore();
}

/** The values under the cursor, in the corner of the chart. */
function readout(u: uPlot, panel: Panel): void {
  let box = u.over.querySelector<HTMLElement>(".readout");
  const i = u.cursor.idx;
  if (i === null || i === undefined) {
    box?.remove();
    return;
  }
  if (!box) {
    box = document.createElement("div");
    box.className = "readout";
    u.over.append(box);
  }
  const parts = panel.lines.filter((l) => l.x.length > 0).map((l, n) => {
    const v = u.data[n + 1]?.[i];
    return v === null || v === undefined ? "" : `${l.label} ${show[panel.unit](v)}`;
  });
  box.textContent = [`${digits(u.data[0][i] ?? NaN)} s`, ...parts.filter(Boolean)].join(" · ");
}

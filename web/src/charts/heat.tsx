// The heat map of latency: time across, response time up (logarithmic), colour
// for how many requests. It shows two modes where percentiles show one line.

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { count, time } from "../data/format";
import { decode, type Histogram } from "../data/hdr";
import type { Interval } from "../data/types";
import { colour, useTheme } from "../ui/theme";
import { log, logBounds } from "./scale";
import { useWidth } from "./size";
import type { Frame } from "./time";

const ROWS = 56;
const LEFT = 66;
const BOTTOM = 28;
const TOP = 8;
const RIGHT = 24; // where the charts over time end, too

export interface Column {
  from: number; // seconds
  to: number;
  histogram: Histogram;
}

export async function columns(intervals: Interval[]): Promise<Column[]> {
  const usable = intervals.filter((i) => i.response?.hdr && !i.drain);
  return Promise.all(
    usable.map(async (i) => ({ from: i.start_us / 1e6, to: (i.start_us + i.length_us) / 1e6, histogram: await decode(i.response!.hdr!) })),
  );
}

/** Counts by column and row; rows are equal steps of the logarithm. */
export function grid(all: Column[], low: number, high: number, rows: number): { counts: number[][]; most: number } {
  const a = Math.log(low);
  const step = (Math.log(high) - a) / rows;
  let most = 0;
  const counts = all.map((c) => {
    const row = new Array<number>(rows).fill(0);
    for (const cell of c.histogram.cells) {
      const r = Math.min(rows - 1, Math.max(0, Math.floor((Math.log((cell.low + cell.high) / 2) - a) / step)));
      row[r]! += cell.count;
    }
    const seconds = Math.max(c.to - c.from, 1e-3);
    const rate = row.map((n) => n / seconds);
    most = rate.reduce((m, n) => Math.max(m, n), most);
    return rate;
  });
  return { counts, most };
}

export function Heat({ intervals, frame, height = 240 }: { intervals: Interval[]; frame: Frame; height?: number }) {
  const { ref, width } = useWidth();
  const canvas = useRef<HTMLCanvasElement>(null);
  const theme = useTheme();
  const [all, setAll] = useState<Column[]>();
  const [problem, setProblem] = useState("");
  useEffect(() => {
    let current = true;
    columns(intervals).then(
      (c) => current && setAll(c),
      (e: unknown) => current && setProblem(e instanceof Error ? e.message : String(e)),
    );
    return () => {
      current = false;
    };
  }, [intervals]);
  useLayoutEffect(() => {
    if (canvas.current && all) draw(canvas.current, all, frame, width, height);
  }, [all, frame, width, theme]);
  if (problem) return <p class="hint">The histograms cannot be shown: {problem}.</p>;
  const range = all ? bounds(all) : undefined;
  const label = range ? `Heat map of response times over time, from ${time(range[0] / 1000)} to ${time(range[1] / 1000)}` : "Heat map of response times over time";
  return (
    <div ref={ref} class="chart" style={{ minHeight: `${height}px` }}>
      <canvas ref={canvas} role="img" aria-label={label} style={{ width: "100%", height: `${height}px` }} />
      {all && <Key most={grid(all, ...bounds(all), ROWS).most} />}
    </div>
  );
}

const bounds = (all: Column[]): [number, number] => {
  const ends = all.flatMap((c) => [c.histogram.cells[0]?.low ?? NaN, c.histogram.cells.at(-1)?.high ?? NaN]);
  return logBounds(ends);
};

function Key({ most }: { most: number }) {
  return (
    <p class="key">
      <span>1</span>
      <span class="ramp" aria-hidden="true" />
      <span>{count(Math.round(most))} requests/s in a cell, logarithmic</span>
    </p>
  );
}

function draw(el: HTMLCanvasElement, all: Column[], frame: Frame, width: number, height: number): void {
  const ratio = devicePixelRatio || 1;
  el.width = Math.round(width * ratio);
  el.height = Math.round(height * ratio);
  const ctx = el.getContext("2d");
  if (!ctx || all.length === 0) return;
  ctx.scale(ratio, ratio);
  const right = width - RIGHT;
  const bottom = height - BOTTOM;
  const [low, high] = bounds(all);
  const x = (s: number) => LEFT + ((s - frame.from) / (frame.to - frame.from)) * (right - LEFT);
  const y = log(low, high, bottom, TOP);
  ctx.fillStyle = colour("--shade");
  ctx.fillRect(x(frame.from), TOP, x(0) - x(frame.from), bottom - TOP);
  ctx.fillRect(x(frame.window), TOP, Math.max(0, right - x(frame.window)), bottom - TOP);
  const ramp = rampOf();
  const { counts, most } = grid(all, low, high, ROWS);
  const step = (bottom - TOP) / ROWS;
  all.forEach((c, i) => {
    counts[i]!.forEach((n, row) => {
      if (n <= 0) return;
      ctx.fillStyle = ramp(Math.log(1 + n) / Math.log(1 + most));
      ctx.fillRect(x(c.from), bottom - (row + 1) * step, Math.max(1, x(c.to) - x(c.from) - 0.5), step + 0.3);
    });
  });
  axes(ctx, frame, x, y, right, bottom);
}

function axes(ctx: CanvasRenderingContext2D, frame: Frame, x: (s: number) => number, y: ReturnType<typeof log>, right: number, bottom: number): void {
  ctx.font = "12px system-ui, sans-serif";
  ctx.fillStyle = colour("--muted");
  ctx.strokeStyle = colour("--rule");
  ctx.textAlign = "right";
  for (const t of y.ticks) {
    ctx.fillText(time(t / 1000), LEFT - 8, y(t) + 4);
    ctx.globalAlpha = 0.5;
    ctx.strokeRect(LEFT, y(t), right - LEFT, 0);
    ctx.globalAlpha = 1;
  }
  ctx.textAlign = "center";
  const span = frame.to - frame.from;
  const step = [1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1800, 3600].find((s) => span / s <= (right - LEFT) / 60) ?? 7200;
  for (let t = Math.ceil(frame.from / step) * step; t <= frame.to; t += step) ctx.fillText(`${t} s`, x(t), bottom + 18);
}

/** From nearly the ground to full: one hue, so that order needs no colour sense. */
function rampOf(): (share: number) => string {
  const parse = (name: string) => (colour(name).match(/[\d.]+/g) ?? []).map(Number);
  const stops = ["--heat-1", "--heat-2", "--heat-3", "--heat-4"].map(parse);
  return (share) => {
    const at = Math.min(0.9999, Math.max(0, share)) * (stops.length - 1);
    const i = Math.floor(at);
    const mix = stops[i]!.map((v, k) => Math.round(v + (stops[i + 1]![k]! - v) * (at - i)));
    return `rgb(${mix.slice(0, 3).join(",")})`;
  };
}

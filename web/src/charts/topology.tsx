// Who asked whom, drawn, with how busy each was. The part that limited the
// result is framed.

import { digits, percent, size, time } from "../data/format";
import type { Part } from "../data/model";
import type { Plan } from "../data/types";
import { useWidth } from "./size";

const BOX = { width: 190, height: 106, gap: 22 };

/** The parts in columns: the generator, whom it asks, whom those ask. */
export function layers(parts: Part[], plan: Plan | undefined): Part[][] {
  const services = plan?.services ?? [];
  const loads = [plan?.load, ...(plan?.also ?? [])];
  const asked = [...new Set(loads.flatMap((l) => (l?.requests ?? []).map((q) => q.service ?? "")))].filter(Boolean);
  const depth = new Map<string, number>();
  const visit = (name: string, d: number) => {
    if (d > 12 || (depth.get(name) ?? -1) >= d) return;
    depth.set(name, d);
    for (const up of services.find((s) => s.name === name)?.upstream ?? []) visit(up, d + 1);
  };
  asked.forEach((n) => visit(n, 1));
  const columns: Part[][] = [];
  for (const p of parts) {
    const d = p.role === "generator" ? 0 : (depth.get(p.name) ?? 1);
    (columns[d] ??= []).push(p);
  }
  return columns.filter(Boolean);
}

export function edges(columns: Part[][], plan: Plan | undefined): [string, string][] {
  const names = new Set(columns.flat().map((p) => p.name));
  const loads = [plan?.load, ...(plan?.also ?? [])];
  const asked = [...new Set(loads.flatMap((l) => (l?.requests ?? []).map((q) => q.service ?? "")))];
  const first = asked.filter((n) => names.has(n));
  const from = (first.length ? first : (columns[1] ?? []).map((p) => p.name)).map((n): [string, string] => ["generator", n]);
  const on = (plan?.services ?? []).flatMap((s) => (s.upstream ?? []).map((u): [string, string] => [s.name, u]));
  return [...from, ...on].filter(([a, b]) => names.has(a) && names.has(b));
}

interface Place {
  x: number;
  y: number;
  part: Part;
}

export function Topology({ parts, plan, limiter, rate }: { parts: Part[]; plan: Plan | undefined; limiter?: string; rate: string }) {
  const { ref, width } = useWidth();
  const columns = layers(parts, plan);
  const across = width >= columns.length * (BOX.width + 60);
  const { places, w, h } = place(columns, width, across);
  const at = new Map(places.map((p) => [p.part.name, p]));
  return (
    <div ref={ref} class="chart">
      <svg class="topology" role="img" aria-label={words(parts, limiter)} viewBox={`0 0 ${w} ${h}`} width="100%" height={h}>
        <defs>
          <marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto-start-reverse">
            <path d="M0 0L8 4L0 8z" class="head" />
          </marker>
        </defs>
        {edges(columns, plan).map(([a, b], i) => <Edge a={at.get(a)!} b={at.get(b)!} across={across} label={i === 0 ? rate : ""} />)}
        {places.map((p) => <Box p={p} limits={isLimiter(p.part, limiter)} />)}
      </svg>
    </div>
  );
}

/** "app[0]" is a part of app. "target" names no part: it says that the limit is
 * on the other side, or only may be, and nothing is framed for that. */
export function isLimiter(p: Part, where: string | undefined): boolean {
  return where !== undefined && where !== "target" && where.replace(/\[.*$/, "") === p.name;
}

function words(parts: Part[], limiter: string | undefined): string {
  const one = (p: Part) => `${p.name}${p.instances > 1 ? `, ${p.instances} instances` : ""}: ${busy(p)}${isLimiter(p, limiter) ? ", this is the limit" : ""}.`;
  return `What took part and how busy it was. ${parts.map(one).join(" ")}`;
}

function place(columns: Part[][], width: number, across: boolean): { places: Place[]; w: number; h: number } {
  const places: Place[] = [];
  const tallest = Math.max(...columns.map((c) => c.length));
  if (across) {
    const h = tallest * (BOX.height + BOX.gap) + 8;
    const step = columns.length > 1 ? Math.min(400, (width - BOX.width - 16) / (columns.length - 1)) : 0;
    columns.forEach((c, i) => {
      const top = (h - c.length * (BOX.height + BOX.gap) + BOX.gap) / 2;
      c.forEach((part, j) => places.push({ x: 8 + i * step, y: top + j * (BOX.height + BOX.gap), part }));
    });
    return { places, w: width, h };
  }
  let y = 6;
  columns.forEach((c) => c.forEach((part) => {
    places.push({ x: Math.max(8, (width - BOX.width) / 2), y, part });
    y += BOX.height + 34;
  }));
  return { places, w: width, h: y - 20 };
}

function Edge({ a, b, across, label }: { a: Place; b: Place; across: boolean; label: string }) {
  const from = across ? { x: a.x + BOX.width, y: a.y + BOX.height / 2 } : { x: a.x + BOX.width / 2, y: a.y + BOX.height };
  const to = across ? { x: b.x - 3, y: b.y + BOX.height / 2 } : { x: b.x + BOX.width / 2, y: b.y - 3 };
  const bend = across ? `C${(from.x + to.x) / 2} ${from.y} ${(from.x + to.x) / 2} ${to.y} ${to.x} ${to.y}` : `L${to.x} ${to.y}`;
  const middle = { x: (from.x + to.x) / 2, y: (from.y + to.y) / 2 };
  return (
    <g class="edge">
      <path d={`M${from.x} ${from.y}${bend}`} marker-end="url(#arrow)" />
      {label && <text x={across ? middle.x : middle.x + 8} y={across ? middle.y - 8 : middle.y + 4} text-anchor={across ? "middle" : "start"}>{label}</text>}
    </g>
  );
}

export function busy(p: Part): string {
  if (p.cores === undefined) return "CPU not known";
  if (p.limit) return `${digits(p.cores)} of ${digits(p.limit)} cores`;
  return `${digits(p.cores)} cores, no limit`;
}

function Box({ p: { x, y, part }, limits }: { p: Place; limits: boolean }) {
  const share = Math.min(1, part.share ?? 0);
  const inner = BOX.width - 28;
  return (
    <g class={limits ? "box limiter" : "box"} transform={`translate(${x} ${y})`}>
      {part.instances > 1 && <rect x="5" y="-5" width={BOX.width} height={BOX.height} rx="8" class="shadow" />}
      <rect width={BOX.width} height={BOX.height} rx="8" />
      <text x="14" y="23" class="name">{cut(part.name, 16)}{part.instances > 1 ? ` × ${part.instances}` : ""}</text>
      <text x="14" y="41" class="what">{cut([part.what, part.host ? `on ${part.host}` : ""].filter(Boolean).join(", "), 27)}</text>
      <rect x="14" y="51" width={inner} height="8" rx="4" class="trough" />
      {share > 0 && <rect x="14" y="51" width={Math.max(4, inner * share)} height="8" rx="4" class={share > 0.85 ? "fill full" : "fill"} />}
      <text x="14" y="76" class="figure">{part.share === undefined || !part.limit ? busy(part) : `${busy(part)}, ${percent(part.share)}`}</text>
      <text x="14" y="94" class="what">{extra(part)}</text>
      {limits && <text x={BOX.width - 12} y="23" text-anchor="end" class="limit">the limit</text>}
    </g>
  );
}

function extra(p: Part): string {
  if (p.throttled && p.throttled > 0.005) return `held back ${percent(p.throttled)} of periods`;
  return [p.perRequest ? `${time(p.perRequest)}/request` : "", p.memory ? size(p.memory) : ""].filter(Boolean).join(", ");
}

const cut = (text: string, most: number) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

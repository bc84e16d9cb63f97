// The series that share the time axis of a trial: what the load saw each second
// and what was watched meanwhile.

import { rate, size } from "./format";
import type { Interval, Observed, Run } from "./types";

export interface Line {
  label: string;
  /** Seconds from the start of the window, at the middle of each sample. */
  x: number[];
  y: (number | null)[];
  dash?: boolean;
}

export interface Panel {
  id: string;
  title: string;
  unit: "rate" | "time" | "share" | "cores" | "size" | "size/s" | "count";
  log?: boolean;
  lines: Line[];
  note?: string;
  /** Upper end of the axis that is always shown. */
  top?: number;
  group: "load" | "cpu" | "memory" | "network" | "jvm" | "server";
}

export const MOST_LINES = 8;

const seconds = (us: number) => us / 1e6;
const middle = (i: Interval) => seconds(i.start_us + i.length_us / 2);

/** Every panel of a trial that has something to show. */
export function panels(r: Run): Panel[] {
  const observed = r.observed ?? [];
  const all = [...loadPanels(r), ...cpuPanels(r), ...javaPanels(observed), ...observedPanels(observed)];
  return all.filter((p) => p.lines.some((l) => l.y.some((v) => v !== null)));
}

const positive = (v: number | undefined) => (v !== undefined && v > 0 ? v : null);

export function loadPanels(r: Run): Panel[] {
  const all = (r.load.intervals ?? []).filter((i) => i.length_us > 0);
  const measured = all.filter((i) => !i.drain);
  const x = measured.map(middle);
  const per = (f: (i: Interval) => number) => measured.map((i) => f(i) / seconds(i.length_us));
  const of = (f: (i: Interval) => number | null): Line["y"] => measured.map(f);
  const rates: Line[] = [{ label: "answered", x, y: per((i) => i.completed) }];
  if (r.load.model === "open") rates.push({ label: "planned", x, y: per((i) => i.planned), dash: true });
  if (measured.some((i) => i.failed > 0)) rates.push({ label: "failed", x, y: per((i) => i.failed) });
  const latency = [
    { label: "max", x, y: of((i) => positive(i.response?.max_us)), dash: true },
    { label: "p99", x, y: of((i) => positive(i.response?.p99_us)) },
    { label: "p50", x, y: of((i) => positive(i.response?.p50_us)) },
  ];
  return [
    { id: "rate", title: "Requests/s", unit: "rate", lines: rates, group: "load" },
    { id: "latency", title: "Response time, each second", unit: "time", log: true, lines: latency, group: "load" },
    { id: "flight", title: "Requests in flight", unit: "count", lines: [{ label: "in flight", x, y: of((i) => i.in_flight) }], group: "load" },
    {
      id: "lag",
      title: "Lag of the generator: send minus intended",
      unit: "time",
      log: true,
      lines: [
        { label: "lag p99", x, y: of((i) => positive(i.lag?.p99_us)) },
        { label: "lag p50", x, y: of((i) => positive(i.lag?.p50_us)) },
      ],
      group: "load",
    },
  ];
}

/** The generator keeps its own series, one value for each second of the window. */
function cpuPanels(r: Run): Panel[] {
  if ((r.observed ?? []).some((o) => o.kind === "generator" && o.series?.["cpu_cores"])) return [];
  const line = (label: string, values: number[] | null | undefined, dash = false): Line => ({
    label,
    x: (values ?? []).map((_, i) => i + 0.5),
    y: values ?? [],
    dash,
  });
  const lines = [
    line("generator, of its cores", r.generator?.busy_series),
    line("its busiest thread", r.generator?.thread_series),
    line("busiest core of the machine", r.generator?.core_series, true),
  ].filter((l) => l.y.length > 0);
  return [{ id: "generator", title: "Generator and its machine", unit: "share", lines, top: 1, group: "cpu" }];
}

interface Spec {
  id: string;
  title: string;
  unit: Panel["unit"];
  group: Panel["group"];
  top?: number;
  /** Kinds and metrics, with the word that follows the name of the thing. */
  take: [kind: string, metric: string, word: string, dash?: boolean][];
}

const SPECS: Spec[] = [
  { id: "cpu", title: "CPU of generator and services", unit: "cores", group: "cpu", take: [["generator", "cpu_cores", ""], ["service", "cpu_cores", ""]] },
  { id: "held", title: "Held back by the CPU limit", unit: "share", group: "cpu", top: 1, take: [["generator", "throttled_ratio", ""], ["service", "throttled_ratio", ""]] },
  {
    id: "host", title: "The machines", unit: "share", group: "cpu", top: 1,
    take: [["host", "cpu_busy_ratio", "busy"], ["host", "core_busy_max_ratio", "busiest core", true], ["host", "cpu_steal_ratio", "stolen", true]],
  },
  { id: "pressure", title: "Tasks that waited for a core", unit: "share", group: "cpu", top: 1, take: [["host", "psi_cpu_some_ratio", ""], ["service", "own_psi_cpu_some_ratio", ""]] },
  { id: "threads", title: "Busiest threads", unit: "cores", group: "cpu", top: 1, take: [["service", "thread_max_cores", "busiest thread"], ["thread", "cpu_cores", ""]] },
  { id: "memory", title: "Memory", unit: "size", group: "memory", take: [["generator", "rss_bytes", ""], ["service", "memory_bytes", ""]] },
  { id: "rss", title: "Resident memory", unit: "size", group: "memory", take: [["service", "rss_bytes", ""]] },
  { id: "network", title: "Network", unit: "size/s", group: "network", take: [["interface", "in_bytes_rate", "in"], ["interface", "out_bytes_rate", "out", true]] },
  { id: "retransmits", title: "TCP segments sent again", unit: "rate", group: "network", take: [["host", "tcp_retransmits_rate", ""]] },
  { id: "queue", title: "Connections waiting to be accepted", unit: "count", group: "network", take: [["service", "accept_queue_count", ""]] },
  { id: "gc", title: "Garbage collection and safepoints, share of the time", unit: "share", group: "jvm", take: [["jvm", "gc_ratio", "GC"], ["jvm", "safepoint_ratio", "safepoints", true]] },
  { id: "compile", title: "Compiling, seconds a second, counted as each ends", unit: "count", group: "jvm", take: [["jvm", "compile_cores", ""]] },
  { id: "server", title: "Requests, as the server counts them", unit: "rate", group: "server", take: [["server", "requests_rate", ""]] },
  { id: "active", title: "Connections, as the server counts them", unit: "count", group: "server", take: [["server", "active_count", "active"], ["server", "waiting_count", "idle", true]] },
];

function observedPanels(all: Observed[]): Panel[] {
  return SPECS.map((s) => {
    const lines = s.take.flatMap(([kind, metric, word, dash]) =>
      all.filter((o) => o.kind === kind && o.series?.[metric] && !(kind === "thread" && machineOf(o, all))).map((o) => line(o, metric, word, all, dash)));
    const hidden = lines.length - MOST_LINES;
    return {
      id: s.id, title: s.title, unit: s.unit, group: s.group, top: s.top,
      lines: busiest(lines),
      note: hidden > 0 ? `the ${MOST_LINES} largest of ${lines.length} series; all are in the raw data` : undefined,
    };
  });
}

/** Of how many Java virtual machines each gets charts of its own, and of how many
 * of its pools. */
const MOST_MACHINES = 4;
const MOST_POOLS = 3;

const together = (a: Observed, b: Observed) =>
  a.service === b.service && (a.instance ?? 0) === (b.instance ?? 0) && (a.host ?? "") === (b.host ?? "");

const machineOf = (o: Observed, all: Observed[]) => all.find((m) => m.kind === "jvm" && together(m, o));

/** The charts of each Java virtual machine: heap, threads by state, pools, and
 * who used the CPU. */
export function javaPanels(all: Observed[]): Panel[] {
  const machines = all.filter((o) => o.kind === "jvm");
  return machines.slice(0, MOST_MACHINES).flatMap((m, i) => {
    const of = machines.length > 1 ? ` of ${nameOf(m, all)}` : "";
    const left = i === MOST_MACHINES - 1 && machines.length > MOST_MACHINES ? `those of ${machines.length - MOST_MACHINES} further machines are in the raw data` : "";
    return [heapPanel(m), statesPanel(m, left), poolsPanel(m, all), busyPanel(m, all)].map((p) => ({ ...p, id: `${p.id}-${i}`, title: p.title + of }));
  });
}

const own = (o: Observed, metric: string, label: string, dash?: boolean): Line => ({ ...line(o, metric, "", [o], dash), label });

const some = (lines: Line[]) => lines.filter((l) => l.y.some((v) => v !== null));

/** The limit is a line as long as the rest is not a strip at the bottom then. */
function heapPanel(m: Observed): Panel {
  const lines = some([own(m, "heap_used_bytes", "used"), own(m, "heap_capacity_bytes", "committed", true)]);
  const limit = own(m, "heap_max_bytes", "limit", true);
  const most = peak(limit);
  const near = most > 0 && most <= 4 * Math.max(0, ...lines.map(peak));
  return {
    id: "heap", title: "Java heap", unit: "size", group: "jvm",
    lines: near ? [...lines, limit] : lines,
    note: !near && most > 0 ? `it may grow to ${size(most)}` : undefined,
  };
}

function statesPanel(m: Observed, left: string): Panel {
  const states = some([
    own(m, "threads_runnable_count", "runnable"), own(m, "threads_blocked_count", "blocked"),
    own(m, "threads_waiting_count", "waiting"), own(m, "threads_timed_waiting_count", "waiting, timed"),
  ]);
  const every = m.facts?.["thread_dumps_every"];
  const notes = [
    states.length === 0 ? "states are read where an experiment asks for thread_dumps" : `states by thread dumps${every ? `, ${every} apart, or further where they would take more than 1% of the time` : ""}; a thread that waits for a socket is runnable`,
    left,
  ];
  return {
    id: "states", title: "Java threads by state", unit: "count", group: "jvm",
    lines: some([...states, own(m, "java_threads_count", "all", true)]), note: notes.filter(Boolean).join("; "),
  };
}

function poolsPanel(m: Observed, all: Observed[]): Panel {
  const pools = all.filter((o) => o.kind === "pool" && together(o, m) && peak(own(o, "threads_count", "")) > 1);
  const busy = (o: Observed) => peak(own(o, "threads_busy_count", ""));
  const shown = [...pools].sort((a, b) => busy(b) - busy(a)).slice(0, MOST_POOLS);
  const hidden = pools.length - shown.length;
  return {
    id: "pools", title: "Java threads in pools", unit: "count", group: "jvm",
    lines: shown.flatMap((o) => [own(o, "threads_busy_count", `${o.name} busy`), own(o, "threads_count", `${o.name} all`, true)]),
    note: hidden > 0 ? `the ${MOST_POOLS} busiest of ${pools.length} pools; all are in the raw data` : undefined,
  };
}

function busyPanel(m: Observed, all: Observed[]): Panel {
  const lines = all.filter((o) => o.kind === "thread" && together(o, m) && o.series?.["cpu_cores"]).map((o) => own(o, "cpu_cores", o.name || "without a name"));
  return {
    id: "busy", title: "CPU of Java threads by name", unit: "cores", group: "jvm", lines: busiest(lines),
    note: `in cores; the system cuts names at 15 letters${lines.length > MOST_LINES ? `; the ${MOST_LINES} busiest of ${lines.length}, all are in the raw data` : ""}`,
  };
}

const peak = (l: Line) => Math.max(0, ...l.y.map((v) => v ?? 0));

/** Keeps the largest series where there are too many to tell apart. */
function busiest(lines: Line[]): Line[] {
  if (lines.length <= MOST_LINES) return lines;
  const kept = new Set([...lines].sort((a, b) => peak(b) - peak(a)).slice(0, MOST_LINES));
  return lines.filter((l) => kept.has(l));
}

function line(o: Observed, metric: string, word: string, all: Observed[], dash?: boolean): Line {
  const at = o.at_us ?? [];
  const length = o.length_us ?? [];
  return {
    label: [nameOf(o, all), word].filter(Boolean).join(" "),
    x: at.map((us, i) => seconds(us - (length[i] ?? 0) / 2)),
    y: o.series?.[metric] ?? [],
    dash,
  };
}

export function nameOf(o: Observed, all: Observed[]): string {
  const twins = all.some((p) => p !== o && p.kind === o.kind && p.service === o.service && p.name === o.name);
  const own = o.name || (o.kind === "host" ? "this machine" : o.service || o.kind);
  const of = o.service && o.service !== o.name ? `${o.service}${twins ? `[${o.instance ?? 0}]` : ""} ` : "";
  const number = !of && twins && o.kind !== "host" ? `[${o.instance ?? 0}]` : "";
  const host = o.host && o.kind === "interface" ? ` on ${o.host}` : "";
  return `${of}${own}${number}${host}`;
}

/** A second that stood out. */
export interface Worst {
  x: number;
  text: string;
  with: string[];
}

/** The worst seconds: those that the analysis named, else the highest p99. */
export function worst(r: Run, show: (us: number) => string): Worst[] {
  if (r.worst?.length) {
    return r.worst.slice(0, 5).map((m) => {
      const text = [m.p99_us ? `p99 ${show(m.p99_us)}` : "", m.few ? `only ${rate(m.rate ?? 0)} requests/s` : ""];
      return { x: seconds(m.start_us + m.length_us / 2), text: text.filter(Boolean).join(", "), with: m.with ?? [] };
    });
  }
  const window = (r.load.intervals ?? []).filter((i) => !i.warmup && !i.drain && (i.response?.p99_us ?? 0) > 0);
  const usual = [...window].sort((a, b) => a.response!.p99_us! - b.response!.p99_us!)[window.length >> 1]?.response?.p99_us ?? 0;
  return window
    .filter((i) => i.response!.p99_us! > 2 * usual)
    .sort((a, b) => b.response!.p99_us! - a.response!.p99_us!)
    .slice(0, 3)
    .map((i) => ({ x: middle(i), text: `p99 ${show(i.response!.p99_us!)}, against ${show(usual)} in a usual second`, with: [] }));
}

// What is known of an experiment that goes on, from its events. Events are
// those of docs/api.md; one that comes twice, after a connection was lost, changes
// nothing.

import type { Finding, Verdict } from "../data/types";

export interface Second {
  /** Seconds from the start of the load, warm-up included, at its middle. */
  at: number;
  rate: number;
  p50?: number;
  p99?: number;
  lag?: number;
  generator?: number;
  warmup: boolean;
}

export interface Sample {
  kind: string;
  name: string;
  service?: string;
  instance?: number;
  host?: string;
  values: Record<string, number>;
}

export interface Done {
  number: number;
  variant: string;
  verdict: Verdict;
  error?: string;
  rate: number;
  p50_us: number;
  p99_us: number;
  failed: number;
  bottleneck?: string;
}

export interface LiveState {
  last: number; // id of the newest event
  campaign?: { id: string; name: string; trials: number };
  trial?: { number: number; of: number; block: number; variant: string; left: string; at: number };
  phase: string;
  progress?: { elapsed: number; total: number; warmup: boolean; open: number; asked: number; completed: number; failed: number };
  seconds: Second[];
  samples: Sample[];
  findings: { finding: Finding; numbers: number[] }[];
  done: Done[];
  ended?: { runs: string[]; error: string };
}

export const START: LiveState = { last: 0, phase: "", seconds: [], samples: [], findings: [], done: [] };

/** A long load has many seconds; the newest are shown. */
const SECONDS = 900;

type Event = Record<string, unknown>;

const num = (v: unknown): number => (typeof v === "number" && Number.isFinite(v) ? v : 0);
const str = (v: unknown): string => (typeof v === "string" ? v : "");
const time = (v: unknown): number => Date.parse(str(v)) || 0;

export function step(s: LiveState, id: number, e: Event): LiveState {
  if (id <= s.last) return s;
  const next = { ...s, last: id };
  switch (e.event) {
    case "campaign": return { ...next, campaign: { id: str(e.id), name: str(e.name), trials: num(e.trials) } };
    case "trial": return { ...next, trial: { number: num(e.number), of: num(e.of), block: num(e.block), variant: str(e.variant), left: str(e.left), at: time(e.at) }, phase: "", progress: undefined, seconds: [], samples: [] };
    case "phase": return { ...next, phase: str(e.text) };
    case "progress": return progressed(next, e);
    case "observed": return { ...next, samples: Array.isArray(e.observed) ? (e.observed as Sample[]).filter((o) => o && typeof o.values === "object") : s.samples };
    case "finding": return { ...next, findings: found(s.findings, e as unknown as Finding, num(e.number)) };
    case "finished": return { ...next, done: [...s.done.filter((d) => d.number !== num(e.number)), e as unknown as Done], progress: undefined };
    case "ended": return { ...next, ended: { runs: Array.isArray(e.runs) ? (e.runs as string[]) : [], error: str(e.error) }, progress: undefined };
  }
  return next; // a newer server may tell more
}

function progressed(s: LiveState, e: Event): LiveState {
  const progress = { elapsed: num(e.elapsed_us), total: num(e.total_us), warmup: e.warmup === true, open: num(e.open), asked: num(e.asked), completed: num(e.completed), failed: num(e.failed) };
  const length = num(e.length_us) || 1e6;
  const known = (v: unknown) => num(v) || undefined;
  const second: Second = {
    at: (progress.elapsed - length / 2) / 1e6,
    rate: num(e.rate),
    p50: known(e.p50_us),
    p99: known(e.p99_us),
    lag: known(e.lag_p99_us),
    generator: typeof e.generator === "number" ? e.generator : undefined,
    warmup: progress.warmup,
  };
  return { ...s, progress, seconds: [...s.seconds, second].slice(-SECONDS) };
}

/** The same finding of several trials stands once. */
function found(all: LiveState["findings"], f: Finding, number: number): LiveState["findings"] {
  const same = all.find((x) => x.finding.rule === f.rule && x.finding.severity === f.severity && x.finding.where === f.where);
  if (!same) return [{ finding: f, numbers: [number] }, ...all];
  if (same.numbers.includes(number)) return all;
  return all.map((x) => (x === same ? { ...x, numbers: [...x.numbers, number] } : x));
}

/** How much of everything is done, 0 to 1. A trial counts by its load. */
export function share(s: LiveState): number {
  if (s.ended) return s.ended.error ? ofTrials(s) : 1;
  return ofTrials(s);
}

function ofTrials(s: LiveState): number {
  const of = s.trial?.of || s.campaign?.trials || 0;
  if (!of) return 0;
  const done = s.done.length;
  const part = s.progress && s.progress.total > 0 ? Math.min(1, s.progress.elapsed / s.progress.total) : 0;
  const running = s.trial && !s.done.some((d) => d.number === s.trial!.number) ? part : 0;
  return Math.min(1, (done + running) / of);
}

/** The time that is left, in words: what the server said when the trial began,
 * less what has passed since. */
export function left(s: LiveState, now: number): string {
  if (!s.trial || s.ended) return "";
  const said = duration(s.trial.left);
  if (said === undefined) return s.trial.left;
  const rest = said - Math.max(0, (now - s.trial.at) / 1000);
  if (rest < 1) return "a moment";
  return `about ${inWords(rest)}`;
}

/** Seconds of a duration as Go writes it: "1h2m3s". */
export function duration(text: string): number | undefined {
  const m = /(?:(\d+)h)?(?:(\d+)m)?(?:(\d+(?:\.\d+)?)s)/.exec(text);
  return m && m[0] ? Number(m[1] ?? 0) * 3600 + Number(m[2] ?? 0) * 60 + Number(m[3] ?? 0) : undefined;
}

export function inWords(seconds: number): string {
  const s = Math.round(seconds);
  if (s < 90) return `${s} s`;
  if (s < 5400) return `${Math.floor(s / 60)} min ${s % 60 ? `${s % 60} s` : ""}`.trim();
  return `${Math.floor(s / 3600)} h ${Math.round((s % 3600) / 60)} min`;
}

// What the page shows, derived once from the document: the trials, the
// variants with their medians, who took part and how busy each was.

import { digits, size } from "./format";
import { spread, type Spread } from "./stats";
import type { Experiment, Load, PageDocument, Plan, PlanService, Run, Trial, Variant, Verdict } from "./types";

export interface Shown {
  doc: PageDocument;
  experiment?: Experiment;
  /** All trials in the order of the plan; a single run is one trial. */
  trials: Trial[];
  rows: Row[];
  baseline?: Row;
  verdict: Verdict;
}

/** A variant over its trials. Invalid trials are listed, never counted. */
export interface Row {
  variant: Variant;
  trials: Trial[];
  used: Trial[];
  rate: Spread;
  p50: Spread;
  p99: Spread;
  errors: number;
  verdict: Verdict;
  /** The trial whose rate is nearest to the median. */
  typical?: Trial;
}

export const worse = (a: Verdict, b: Verdict): Verdict => {
  const order = { valid: 0, suspect: 1, invalid: 2 };
  return (order[b] ?? 2) > (order[a] ?? 2) ? b : a;
};

export function derive(doc: PageDocument): Shown {
  if (doc.experiment) return ofExperiment(doc, doc.experiment);
  const trial: Trial = { ...(doc.run as Run), number: 1, block: 0, variant: "" };
  return { doc, trials: [trial], rows: [], verdict: trial.validity.verdict };
}

function ofExperiment(doc: PageDocument, e: Experiment): Shown {
  const trials = e.trials ?? [];
  const rows = e.plan.variants.map((v) => row(v, trials.filter((t) => t.variant === v.name)));
  const baseline = rows.find((r) => r.variant.name === e.plan.baseline);
  const verdict = rows.reduce<Verdict>((v, r) => worse(v, r.verdict), trials.length ? "valid" : "invalid");
  return { doc, experiment: e, trials, rows, baseline, verdict };
}

/** A trial has a result unless it could not be carried out. */
export const ran = (t: Trial): boolean => !t.error && t.load?.duration_us > 0;

/** Percentiles from a window whose queue was growing say nothing. */
export const unstable = (r: Run): boolean =>
  (r.validity.findings ?? []).some((f) => f.rule === "rate-sustained" && (f.severity === "suspect" || f.severity === "invalid"));

function row(variant: Variant, trials: Trial[]): Row {
  const done = trials.filter(ran);
  const used = done.filter((t) => t.validity.verdict !== "invalid");
  const steady = used.filter((t) => !unstable(t));
  const sum = (f: (t: Trial) => number) => done.reduce((n, t) => n + f(t), 0);
  const rate = spread(used.map((t) => t.load.rate));
  const response = (t: Trial) => t.load.latency.response;
  return {
    variant,
    trials,
    used,
    rate,
    p50: spread(steady.map((t) => response(t)?.p50_us ?? NaN)),
    p99: spread(steady.map((t) => response(t)?.p99_us ?? NaN)),
    errors: sum((t) => t.load.requests.failed) / Math.max(1, sum((t) => t.load.requests.asked)),
    verdict: verdictOf(trials, used),
    typical: nearest(used, rate.median) ?? done[0],
  };
}

/** The verdict of what is counted. Runs that had to be left out leave a doubt:
 * what made them invalid may have touched the others. */
function verdictOf(trials: Trial[], used: Trial[]): Verdict {
  if (used.length === 0) return "invalid";
  const left: Verdict = used.length < trials.length ? "suspect" : "valid";
  return used.reduce<Verdict>((v, t) => worse(v, t.validity.verdict), left);
}

function nearest(trials: Trial[], rate: number): Trial | undefined {
  let best: Trial | undefined;
  for (const t of trials) {
    if (!best || Math.abs(t.load.rate - rate) < Math.abs(best.load.rate - rate)) best = t;
  }
  return best;
}

/** The trial that the page opens with: the one asked about, or the worst off. */
export function firstTrial(s: Shown): Trial | undefined {
  return s.baseline?.typical ?? s.rows.find((r) => r.typical)?.typical ?? s.trials.find(ran);
}

/** The plan of a trial: its own, or the one of its place in the experiment. */
export function planOf(s: Shown, t: Trial): Plan | undefined {
  if (t.plan) return t.plan;
  const planned = s.experiment?.plan.trials ?? [];
  return (planned.find((p) => p.variant === t.variant && p.block === t.block && p.plan) ?? planned.find((p) => p.variant === t.variant && p.plan))?.plan;
}

/** What "scale: auto" reduced in any variant, a line each; none if the file did
    not ask for it. */
export function fitLines(s: Shown): string[] {
  const plans = s.experiment ? (s.experiment.plan.trials ?? []).map((t) => t.plan) : s.trials.map((t) => t.plan);
  const fits = plans.flatMap((p) => (p?.fit ? [p.fit] : []));
  if (fits.length === 0) return [];
  const show = (what: string, v: number) => (what === "memory" ? size(v) : what === "rate" ? `${digits(v)}/s` : String(v));
  const lines = fits.flatMap((f) => f.changes ?? []).map((c) => `${c.what} ${show(c.what, c.from)} → ${show(c.what, c.to)}${c.of?.length ? ` for ${c.of.join(", ")}` : ""}: ${c.why}`);
  const unseen = [...new Set(fits.flatMap((f) => f.unseen ?? []))];
  const all = lines.length > 0 ? [...new Set(lines)] : ["nothing had to be reduced"];
  return unseen.length > 0 ? [...all, `not looked at, and as the file says: ${unseen.join(", ")}`] : all;
}

export const loadsOf = (t: Trial): Load[] => [t.load, ...(t.also ?? [])];

/** What a load is, in a line. */
export function model(l: Load): string {
  const kind = `${l.protocol}${l.tls ? ` over ${l.tls.version}` : ""}`;
  const many = l.connections.asked === 1 ? "1 connection" : `${l.connections.asked.toLocaleString("en-US")} connections`;
  return l.model === "open" ? `open model, up to ${many}, ${kind}` : `closed model, ${many}, ${kind}`;
}

/** The requests of a plan, in a line. */
export function target(p: Plan | undefined): string {
  const all = p?.load.requests ?? [];
  const texts = [...new Set(all.map((q) => `${q.method} ${q.service ? q.service + pathOf(q.url) : q.url}`))];
  return texts.length > 3 ? `${texts.slice(0, 3).join(", ")} and ${texts.length - 3} more` : texts.join(", ");
}

function pathOf(url: string): string {
  const m = /^[a-z]+:\/\/[^/]*(\/.*)?$/i.exec(url);
  return m?.[1] ?? "/";
}

/** Somebody on the request's way, and how busy it was. */
export interface Part {
  name: string;
  role: "generator" | "service";
  instances: number;
  limit?: number; // cores, of all instances
  cores?: number; // used, of all instances
  share?: number; // of the limit, or of the machine
  perRequest?: number; // CPU microseconds
  memory?: number;
  throttled?: number;
  version?: string;
  host?: string;
  what?: string;
}

export function parts(t: Trial, p: Plan | undefined): Part[] {
  const g = t.generator;
  const generator: Part = {
    name: "generator",
    role: "generator",
    instances: 1,
    limit: g.cpus || undefined,
    cores: g.cpu_us > 0 ? g.mean_busy * g.cpus : undefined,
    share: g.cpu_us > 0 ? g.mean_busy : undefined,
    perRequest: g.cpu_us_per_request || undefined,
    memory: g.max_rss_bytes || undefined,
    throttled: g.throttled,
    what: `Prony, ${t.load.engine}`,
  };
  const names = [...new Set([...(p?.services ?? []).map((s) => s.name), ...(t.services ?? []).map((s) => s.name)])];
  return [generator, ...names.map((n) => servicePart(n, t, p?.services?.find((s) => s.name === n)))];
}

function servicePart(name: string, t: Trial, planned: PlanService | undefined): Part {
  const own = (t.services ?? []).filter((s) => s.name === name);
  const instances = Math.max(planned?.instances ?? 1, own.length);
  const per = own.reduce((n, s) => n + s.cpu_us_per_request, 0);
  const limits = own.map((s) => s.limits?.cpus ?? 0).filter((c) => c > 0);
  const each = planned?.limits?.cpus ?? 0;
  const limit = limits.length ? limits.reduce((a, b) => a + b, 0) : each * instances;
  const known = per > 0;
  const cores = known ? (per * t.load.rate) / 1e6 : undefined;
  const whole = limit || (planned?.host ? 0 : t.environment?.cpus ?? 0);
  return {
    name,
    role: "service",
    instances,
    limit: limit || undefined,
    cores,
    share: cores !== undefined && whole > 0 ? cores / whole : undefined,
    perRequest: known ? per : undefined,
    memory: own.reduce((n, s) => n + s.max_rss_bytes, 0) || undefined,
    throttled: own.length ? Math.max(...own.map((s) => s.throttled_ratio)) : undefined,
    version: own.find((s) => s.version)?.version,
    host: planned?.host ?? own.find((s) => s.host)?.host,
    what: whatIs(planned),
  };
}

function whatIs(s: PlanService | undefined): string | undefined {
  if (!s) return undefined;
  return s.entry ?? (s.url ? s.url : s.kind);
}

/** Is a variant's axis a number? Then its values, ascending, make a curve. */
export interface Axis {
  name: string;
  values: string[];
  numeric: boolean;
  /** The axis changes the load (connections, rate), not the target. */
  ofLoad: boolean;
}

export function axes(s: Shown): Axis[] {
  const names = [...new Set(s.rows.flatMap((r) => Object.keys(r.variant.values ?? {})))];
  return names.map((name) => {
    const values = [...new Set(s.rows.map((r) => r.variant.values?.[name]).filter((v): v is string => v !== undefined))];
    const numeric = values.length > 1 && values.every((v) => toNumber(v) !== undefined);
    return { name, values, numeric, ofLoad: /(^|\.)(connections|rate)$/.test(name) };
  });
}

/** "8192", "5000/s", "0.2" and "200m" are numbers; "nginx" is not. */
export function toNumber(text: string | undefined): number | undefined {
  const m = /^(\d+(?:\.\d+)?)(m|k|\/s)?$/.exec((text ?? "").trim());
  if (!m) return undefined;
  const v = Number(m[1]) * (m[2] === "m" ? 0.001 : m[2] === "k" ? 1000 : 1);
  return v > 0 ? v : undefined;
}

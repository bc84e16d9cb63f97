// What the first screen says, from the result: which trials a number rests on
// and which were left out, how it stands to the baseline, what caused doubt.

import { count, digits, plural, rate } from "./format";
import { ran, type Row, type Shown } from "./model";
import type { Comparison, Finding, Trial } from "./types";

const ORDER: Record<string, number> = { invalid: 0, suspect: 1, note: 2, info: 3 };
const gravity = (f: Finding): number => ORDER[f.severity] ?? 1;
export const grave = (f: Finding): boolean => gravity(f) < 2;

/** How far a finding is beyond its limit; 1 where that is not known. */
function beyond(f: Finding): number {
  for (const [k, limit] of Object.entries(f.threshold ?? {})) {
    const v = f.evidence?.[k];
    if (v !== undefined && v > 0 && limit > 0) return v > limit ? v / limit : limit / v;
  }
  return 1;
}

/** One cause with every trial that it fired in; finding is the worst of them. */
export interface Cause {
  finding: Finding;
  /** The trial that finding is of; undefined for the whole experiment. */
  of?: number;
  trials: number[];
}

/** Each cause once, gravest first. What is of the whole experiment is told apart
 * by its message. */
export function causes(trials: Trial[], more: Finding[] = []): Cause[] {
  const seen = new Map<string, Cause>();
  const add = (f: Finding, n?: number) => {
    const key = JSON.stringify([f.rule, f.where ?? "", grave(f) ? "grave" : f.severity, n === undefined ? f.message : ""]);
    const known = seen.get(key);
    if (!known) {
      seen.set(key, { finding: f, of: n, trials: n === undefined ? [] : [n] });
      return;
    }
    if (n !== undefined && !known.trials.includes(n)) known.trials.push(n);
    const graver = gravity(f) - gravity(known.finding);
    if (graver < 0 || (graver === 0 && beyond(f) > beyond(known.finding))) Object.assign(known, { finding: f, of: n });
  };
  more.forEach((f) => add(f));
  for (const t of trials) for (const f of t.validity?.findings ?? []) add(f, t.number);
  return [...seen.values()].sort((a, b) => gravity(a.finding) - gravity(b.finding));
}

/** The causes that change a verdict; those of the trials of some rows first. */
export function doubts(shown: Shown, first: (Row | undefined)[]): Cause[] {
  const place = (c: Cause): number => {
    const i = first.findIndex((r) => r?.trials.some((t) => c.trials.includes(t.number)));
    return i < 0 ? (c.trials.length ? first.length : 0) : i;
  };
  return causes(shown.trials, shown.experiment?.findings ?? []).filter((c) => grave(c.finding)).map((c) => ({ c, at: place(c) })).sort((a, b) => a.at - b.at).map(({ c }) => c);
}

/** "3", "3 and 4", "1, 2 and 5", "1, 2, 3, 4 and 8 more". */
export function list(of: (string | number)[], most = 5): string {
  const all = of.map(String);
  if (all.length > most) return `${all.slice(0, most - 1).join(", ")} and ${all.length - most + 1} more`;
  return all.length < 2 ? (all[0] ?? "") : `${all.slice(0, -1).join(", ")} and ${all.at(-1)}`;
}

const trialsWord = (n: (string | number)[]): string => `${n.length === 1 ? "trial" : "trials"} ${list(n)}`;

/** Whose trials a cause was seen in: "trials 6 and 8 (instances=2, left out)". */
export function seenIn(shown: Shown, numbers: number[]): string {
  if (shown.trials.length < 2 || numbers.length === 0) return "";
  if (numbers.length === shown.trials.length) return `all ${numbers.length} trials`;
  const rows = shown.rows.map((r) => ({ r, of: r.trials.filter((t) => numbers.includes(t.number)) })).filter(({ of }) => of.length > 0);
  if (rows.length > 2 && numbers.length > 4) return `${numbers.length} of ${count(shown.trials.length)} trials`;
  return rows.map(({ r, of }) => {
    const out = of.filter((t) => !r.used.includes(t)).length;
    const left = out === 0 ? "" : out === of.length ? ", left out" : `, ${out} of them left out`;
    return `${trialsWord(of.map((t) => t.number))} (${r.variant.name}${left})`;
  }).join(", ");
}

/** Why a trial does not count. */
export function whyNot(t: Trial): string {
  if (t.error) return t.error;
  const all = causes([t]).filter((c) => grave(c.finding));
  return all[0]?.finding.message ?? "it is invalid";
}

export interface Rests {
  /** "median of trials 3 and 4" */
  on: string;
  /** Trials of the variant that do not count, each with its reason. */
  out: { trial: Trial; rate?: number; why: string }[];
}

/** What the number of a variant rests on. */
export function rests(r: Row): Rests {
  const used = r.used.map((t) => t.number);
  const on = used.length === 1 ? `from ${trialsWord(used)} alone` : used.length <= 5 ? `median of ${trialsWord(used)}` : `median of ${count(used.length)} trials`;
  const out = r.trials.filter((t) => !r.used.includes(t)).map((trial) => ({ trial, rate: ran(trial) ? trial.load.rate : undefined, why: whyNot(trial) }));
  return { on, out };
}

/** The ratio of each block that has a usable trial of both, in their order. */
export function pairRatios(row: Row, base: Row): number[] {
  return row.used.flatMap((t) => {
    const other = base.used.find((b) => b.block === t.block);
    return other && other.load.rate > 0 ? [t.load.rate / other.load.rate] : [];
  });
}

export interface Standing {
  /** The ratio to the baseline. */
  times: number;
  /** Is there enough to stand on? Otherwise it is "about". */
  sure: boolean;
  /** What the ratio rests on: its interval, or the pairs. */
  by: string;
  /** What follows from it, in a sentence; empty for a plain verdict. */
  says: string;
  verdict: string;
}

/** How a variant stands to the baseline, in words. */
export function standing(row: Row, base: Row, comparisons: Comparison[]): Standing {
  const c = comparisons.find((x) => x.variant === row.variant.name && x.metric === "rate" && x.ratio > 0);
  const each = c?.ratios ?? pairRatios(row, base);
  const times = c?.ratio ?? row.rate.median / base.rate.median;
  const seen = each.length === 0 ? "" : each.length > 5 ? `from ${digits(Math.min(...each))} to ${digits(Math.max(...each))} in ${each.length} usable blocks` : `${list(each.map((v) => digits(v)))} in the ${each.length === 1 ? "one usable block" : `${each.length} usable blocks`}`;
  if (c?.low && c.high) {
    const by = `${digits(c.low)} to ${digits(c.high)}`;
    if (!/cannot tell/.test(c.verdict)) return { times, sure: true, by, says: "", verdict: c.verdict };
    const more = c.needed ? ` About ${plural(c.needed, c.pairs ? "block" : "trial")} would tell; there are ${count(c.pairs || c.trials_b || 0)}.` : "";
    return { times, sure: false, by, says: `The interval holds both no difference and one that matters.${more}`, verdict: c.verdict };
  }
  if (c) return { times, sure: false, by: seen, says: fewSays(c), verdict: c.verdict };
  return { times, sure: false, by: seen, says: unjudged(row, base), verdict: "" };
}

/** Why a comparison cannot tell: mostly for want of trials. */
export function fewSays(c: Comparison): string {
  if (!c.needed) return c.note ? `No verdict: ${c.note}.` : "No verdict.";
  const has = c.pairs || Math.min(c.trials_a ?? 0, c.trials_b ?? 0);
  return `Too few trials for a verdict: it takes ${count(c.needed)} ${c.pairs ? "usable blocks" : "trials of each side"}, and there ${has === 1 ? "is" : "are"} ${count(has)}.`;
}

/** Without a test it claims only what the trials show. */
function unjudged(row: Row, base: Row): string {
  if (row.rate.n < 2 || base.rate.n < 2) return "One trial of a side: it could be chance.";
  if (row.rate.low <= base.rate.high && base.rate.low <= row.rate.high) return "The ranges overlap: these trials cannot tell.";
  return `The ${row.rate.coverage && base.rate.coverage ? "intervals" : "ranges"} do not overlap.`;
}

/** How many trials of a row have the limit that its typical one has. */
export function sameLimit(r: Row): { n: number; of: number } {
  const key = (t: Trial) => `${t.bottleneck?.what} ${(t.bottleneck?.where ?? "").replace(/\[\d+\]$/, "")}`;
  const all = r.used.length ? r.used : r.trials;
  return { n: r.typical ? all.filter((t) => key(t) === key(r.typical!)).length : 0, of: all.length };
}

/** The other instances of the service that a quota held back. */
export function others(t: Trial): { name: string; held: number }[] {
  const m = /^(.*)\[(\d+)\]$/.exec(t.bottleneck?.where ?? "");
  if (!m || !/quota/.test(t.bottleneck?.what ?? "")) return [];
  return (t.services ?? []).filter((s) => s.name === m[1] && s.instance !== Number(m[2])).map((s) => ({ name: `${s.name}[${s.instance}]`, held: s.throttled_ratio }));
}

/** The first clause of a message, and the rest. */
export function clauses(message: string): [string, string] {
  const at = message.indexOf("; ");
  return at < 0 ? [message, ""] : [message.slice(0, at), message.slice(at + 2)];
}

export const perSecond = (v: number): string => `${rate(v)} requests/s`;

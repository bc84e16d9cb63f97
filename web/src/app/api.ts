// The JSON API of prony serve, as docs/api.md describes it.

import type { Finding, Trial, Verdict } from "../data/types";

export interface Row {
  id: string;
  name?: string;
  tags?: string[] | null;
  campaign?: string;
  number?: number;
  block?: number;
  experiment: string;
  variant?: string;
  kind: string;
  version: string;
  target: string;
  started: string;
  verdict: Verdict | "";
  error?: string;
  /** The message of the finding that made it suspect or invalid. */
  reason?: string;
  ended_by: string;
  bottleneck?: string;
  baseline?: boolean;
  notes?: number;
  rate: number;
  offered_rate: number | null;
  p50_us: number | null;
  p99_us: number | null;
  errors: number | null;
  connections: number;
  duration_us: number;
}

export interface List {
  runs: Row[];
  total: number;
  next?: string;
}

export interface Whole {
  run: Row;
  notes: { written: string; text: string }[];
  logs: string[];
  result: Trial;
}

export interface Subject {
  experiment: string;
  variant?: string;
  runs: number;
}

export interface Baseline {
  experiment: string;
  variant?: string;
  pinned: string;
  runs: string[];
}

export interface Version {
  version: string;
  api: number;
  store: string;
  allow_run: boolean;
}

export interface Mistake {
  line: number;
  column: number;
  path?: string;
  message: string;
  allowed?: string[] | null;
  nearest?: string;
  remedy?: string;
}

export interface Draft {
  name?: string;
  plan?: string;
  trials?: number;
  variants?: string[] | null;
  mistakes: Mistake[];
}

export interface Live {
  id: string;
  name?: string;
  started: string;
  state: "running" | "ended";
  events: string;
  runs: string[];
  error?: string;
}

/** A figure in base units, or null where it is not known. */
export type Known = number | null | undefined;

export interface Audited {
  id: string;
  tool: string;
  label?: string;
  first_line?: number;
  last_line?: number;
  command?: string;
  url?: string;
  model?: string;
  connections?: Known;
  threads?: Known;
  duration_printed_us?: Known;
  duration_stated_us?: Known;
  requests?: Known;
  rate?: Known;
  latency?: { mean?: Known; max?: Known; percentiles?: { p: number; value_us: Known }[] | null };
  errors?: Record<string, number> | null;
  odd?: string[] | null;
  validity: Validity;
}

export interface Validity {
  verdict: Verdict;
  findings?: Finding[] | null;
  not_run?: string[] | null;
}

export interface Audit {
  schema: string;
  verdict: Verdict;
  results: Audited[] | null;
  pairs: { a: string; b: string; rate_ratio?: Known; validity: Validity }[] | null;
  claims: { text: string; holds: boolean; validity: Validity }[] | null;
  remarks: Finding[] | null;
}

/** What went wrong, in words. Status 0: nobody answered. */
export class Trouble extends Error {
  constructor(
    message: string,
    readonly status = 0,
    readonly mistakes: Mistake[] = [],
  ) {
    super(message);
  }
}

const SILENT = "The server does not answer. If prony serve was stopped, start it again, then try again.";

const PAUSE = 400; // ms

async function ask(path: string, init: RequestInit = {}, attempt = 1): Promise<Response> {
  let r: Response;
  try {
    r = await fetch(path, { ...init, headers: { ...init.headers, "X-Prony": "1" } });
  } catch (e) {
    if (e instanceof DOMException && e.name === "AbortError") throw e;
    if (init.method !== undefined || attempt > 1) throw new Trouble(SILENT); // what changes something is not sent twice
    await new Promise((then) => setTimeout(then, PAUSE)); // a network that changes breaks what is under way
    return ask(path, init, attempt + 1);
  }
  if (!r.ok) throw await troubleOf(r);
  return r;
}

/** Errors come as application/problem+json (RFC 9457); a proxy may send others. */
async function troubleOf(r: Response): Promise<Trouble> {
  const plain = `The server answered ${r.status}${r.statusText ? ` (${r.statusText})` : ""}.`;
  try {
    const p = (await r.json()) as { detail?: unknown; mistakes?: Mistake[] };
    return new Trouble(typeof p.detail === "string" && p.detail ? p.detail : plain, r.status, Array.isArray(p.mistakes) ? p.mistakes : []);
  } catch {
    return new Trouble(plain, r.status);
  }
}

export async function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  return (await (await ask(path, { signal })).json()) as T;
}

export const text = async (path: string, signal?: AbortSignal): Promise<string> => (await ask(path, { signal })).text();

/** Sends JSON; the answer's JSON, or nothing for an empty answer. */
export async function send<T = void>(method: "POST" | "PUT" | "DELETE", path: string, body?: unknown, signal?: AbortSignal): Promise<T> {
  const json = body === undefined ? {} : { body: JSON.stringify(body), headers: { "Content-Type": "application/json" } };
  const r = await ask(path, { method, signal, ...json });
  return (r.status === 204 ? undefined : await r.json()) as T;
}

export async function upload<T>(path: string, file: Blob): Promise<T> {
  const r = await ask(path, { method: "POST", body: file, headers: { "Content-Type": "application/octet-stream" } });
  return (await r.json()) as T;
}

/** A path with parameters; those that are empty are left out. */
export function query(path: string, of: Record<string, string | number | string[] | undefined | false>): string {
  const q = new URLSearchParams();
  for (const [k, v] of Object.entries(of)) {
    if (Array.isArray(v)) v.forEach((one) => q.append(k, one));
    else if (v !== undefined && v !== "" && v !== false) q.set(k, String(v));
  }
  const all = q.toString();
  return all ? `${path}?${all}` : path;
}

export const segment = encodeURIComponent;

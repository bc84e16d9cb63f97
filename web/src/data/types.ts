// The JSON contract of Prony's results, as far as the page reads it. Times are
// microseconds, sizes bytes, ratios 0 to 1. Everything that may be missing is
// optional: a result may be older or newer than this page.

export type Verdict = "valid" | "suspect" | "invalid";
export type Severity = "info" | "note" | "suspect" | "invalid";
export type Figures = Record<string, number>;

export interface Summary {
  count: number;
  min_us?: number;
  mean_us?: number;
  stdev_us?: number;
  p50_us?: number;
  p75_us?: number;
  p90_us?: number;
  p95_us?: number;
  p99_us?: number;
  p99_9_us?: number;
  p99_99_us?: number;
  max_us?: number;
  overflow?: number;
  hdr?: string;
}

export interface Finding {
  rule: string;
  id?: string;
  severity: Severity;
  confidence?: string;
  where?: string;
  message: string;
  evidence?: Figures;
  threshold?: Figures;
  window_us?: number[];
  advice?: string;
}

export interface Interval {
  start_us: number;
  length_us: number;
  warmup?: boolean;
  drain?: boolean;
  started: number;
  planned: number;
  completed: number;
  failed: number;
  bytes_in: number;
  in_flight: number;
  response?: Summary;
  service?: Summary;
  lag?: Summary;
  errors?: Summary;
}

export interface Load {
  name?: string;
  model: string;
  protocol: string;
  tls?: { version: string; cipher: string; full_handshakes: number; resumed_handshakes: number; verified: boolean } | null;
  engine: string;
  engine_reason?: string;
  timestamps?: string;
  threads: number;
  connections: {
    asked: number;
    opened: number;
    peak: number;
    connects: number;
    failed: number;
    reopened: number;
    closed_by_peer: number;
    resent?: number;
    connect_time?: Summary;
    tls_time?: Summary;
  };
  started_us: number;
  duration_us: number;
  warmup_us?: number;
  drain_us?: number;
  ended_by: string;
  requests: {
    asked: number;
    started: number;
    completed: number;
    failed: number;
    cut_off: number;
    unsent: number;
    warmup?: number;
  };
  failures?: Record<string, number> | null;
  failure_details?: { kind: string; phase: string; errno?: string; count: number; example: string }[] | null;
  statuses?: Record<string, number> | null;
  samples?: { status: number; head: string }[] | null;
  bytes_in: number;
  bytes_out: number;
  body_bytes?: number;
  rate: number;
  offered_rate?: number | null;
  latency: Record<"response" | "service" | "lag" | "dispatch" | "first_byte" | "failed", Summary | undefined>;
  in_flight?: number;
  loopback?: boolean;
  intervals?: Interval[] | null;
}

export interface Observed {
  kind: string;
  name: string;
  service?: string;
  instance?: number;
  host?: string;
  facts?: Record<string, string>;
  at_us?: number[] | null;
  length_us?: number[] | null;
  series?: Record<string, (number | null)[]> | null;
  totals?: Figures;
  unknown?: Record<string, string>;
}

export interface Generator {
  cpu_us: number;
  cpu_us_per_request: number;
  max_rss_bytes: number;
  cpus: number;
  mean_busy: number;
  peak_busy: number;
  peak_thread_busy: number;
  busy_series?: number[] | null;
  thread_series?: number[] | null;
  core_series?: number[] | null;
  throttled?: number;
  monitor_cpu?: number;
  unknown?: string[] | null;
}

export interface Limits {
  cpus?: number;
  cores?: number[];
  memory_bytes?: number;
  startup_cpus?: number;
  pids?: number;
}

export interface Service {
  name: string;
  instance: number;
  cpu_us_per_request: number;
  max_rss_bytes: number;
  throttled_ratio: number;
  host?: string;
  cpu_us?: number;
  oom_kills?: number;
  limits?: Limits;
  requests?: number | null;
  version?: string;
}

export interface Environment {
  os?: string;
  kernel?: string;
  arch?: string;
  cpu_model?: string;
  cpus?: number;
  memory_bytes?: number;
  go?: string;
  hostname?: string;
  sysctl?: Record<string, string>;
  facts?: Record<string, string>;
}

export interface PlanService {
  name: string;
  kind: string;
  entry?: string;
  params?: Record<string, string>;
  url?: string;
  instances: number;
  upstream?: string[];
  limits?: Limits;
  host?: string;
}

export interface PlanLoad {
  name?: string;
  requests?: { method: string; url: string; service?: string; weight?: number; headers?: { name: string; value: string }[] }[] | null;
  model: string;
  connections: number;
  threads: number;
  duration_ns: number;
  warmup_ns?: number;
  arrivals?: { process?: string; rate?: number; [key: string]: unknown };
  think?: { mean_ns?: number };
  no_keep_alive?: boolean;
  pipeline?: number;
  timeouts?: { request_ns?: number };
}

export interface Plan {
  name?: string;
  seed?: number;
  load: PlanLoad;
  also?: PlanLoad[];
  services?: PlanService[];
  fit?: Fit;
}

/** What "scale: auto" made of the file: what was reduced, and why. */
export interface Fit {
  changes?: { what: string; of?: string[]; from: number; to: number; why: string }[];
  /** Hosts that nobody looked at. */
  unseen?: string[];
}

export interface Expectation {
  text: string;
  actual: number;
  met: boolean;
  reason?: string;
}

export interface Bottleneck {
  what: string;
  where: string;
  message: string;
  evidence?: Figures;
  confidence?: string;
  exonerated?: string[];
}

/** A second that was among the worst, with what else happened in it. */
export interface Moment {
  start_us: number;
  length_us: number;
  p99_us?: number;
  rate?: number;
  slow?: boolean;
  few?: boolean;
  with?: string[] | null;
}

export interface Run {
  schema: string;
  kind: string;
  version?: string;
  command?: string[];
  started: string;
  validity: { verdict: Verdict; findings?: Finding[] | null; not_run?: string[] | null };
  bottleneck?: Bottleneck | null;
  load: Load;
  also?: Load[] | null;
  generator: Generator;
  services?: Service[] | null;
  observed?: Observed[] | null;
  watch_cores?: number;
  environment?: Environment | null;
  hosts?: Record<string, Environment> | null;
  plan?: Plan | null;
  expect?: Expectation[] | null;
  warnings?: string[] | null;
  worst?: Moment[] | null;
}

export interface Trial extends Run {
  number: number;
  block: number;
  variant: string;
  values?: Record<string, string>;
  error?: string;
}

export interface Variant {
  name: string;
  values?: Record<string, string>;
}

export interface Experiment {
  schema: string;
  id?: string;
  plan: {
    name?: string;
    question?: string;
    seed?: number;
    order?: string;
    scale?: number;
    repeat?: { times?: number; detect?: number };
    cooldown_ns?: number;
    hosts?: { name: string; url: string; cpus?: number }[] | null;
    variants: Variant[];
    baseline: string;
    goals?: { text: string }[] | null;
    trials?: { block: number; variant: string; plan?: Plan }[] | null;
  };
  trials: Trial[];
  findings?: Finding[] | null;
}

/** One metric of one variant against the baseline; made by the statistics. */
export interface Comparison {
  metric: string;
  variant: string;
  baseline: string;
  verdict: string;
  better?: "higher" | "lower";
  ratio: number;
  low?: number;
  high?: number;
  margin?: number;
  p?: number;
  test?: string;
  pairs?: number;
  /** The ratio of each pair, in the order of the blocks. */
  ratios?: number[];
  trials_a?: number;
  trials_b?: number;
  /** About how many pairs, or trials of each side, would tell in all. */
  needed?: number;
  note?: string;
}

/** A fit of the Universal Scalability Law: X(N) = γN / (1 + α(N-1) + βN(N-1)). */
export interface Fit {
  axis: string;
  group?: string;
  alpha: number;
  beta: number;
  gamma: number;
  peak_at?: number;
  note?: string;
}

export interface PageDocument {
  page: number;
  made?: string;
  version?: string;
  run?: Run | null;
  experiment?: Experiment | null;
  advice?: string[] | null;
  goals?: Expectation[] | null;
  comparisons?: Comparison[] | null;
  fits?: Fit[] | null;
  source?: { name: string; text: string } | null;
  command?: string;
  docs?: string;
  left_out?: string[] | null;
  /** It came from a server, not with the page. */
  served?: boolean;
}

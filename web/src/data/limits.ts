// Limits in a few plain words, as internal/result says them (LimitName); a file
// of answers holds the two to each other.

/** Words that need no place behind them. */
const WHOLE: Record<string, string> = {
  "": "not identified",
  "not-identified": "not identified",
  "foreign-cpu": "other programs",
  generator: "the generator",
  "generator-cpu": "CPU of the generator",
  "generator-quota": "CPU quota of the generator",
  "file-limit": "open files of the generator",
  ports: "ports of the generator",
  connections: "number of connections",
  concurrency: "number of connections",
  rate: "the asked rate",
  "think-time": "think time of the users",
  "target-or-path": "the target or the way to it",
  admission: "circuit breaker or limiter",
};

const OF: Record<string, string> = {
  "cpu-quota": "CPU quota",
  "target-quota": "CPU quota",
  "target-cpu": "CPU",
  "host-cpu": "CPU",
  "one-thread": "one full thread",
  pool: "connection pool",
  softirq: "network interrupts",
  loss: "packet loss",
  "upstream-connections": "new upstream connections",
  conntrack: "connection tracking",
  "syn-queue": "SYN queue",
};

const own = (of: Record<string, string>, key: string): string | undefined => (Object.hasOwn(of, key) ? of[key] : undefined);

/** "CPU quota of app". The instance is left to the message. */
export function limitName(what: string | undefined, where = ""): string {
  const whole = own(WHOLE, what ?? "");
  if (whole !== undefined) return whole;
  const name = own(OF, what!) ?? what!.replaceAll("-", " ");
  const place = where.replace(/\[\d+\]$/, "");
  return place ? `${name} of ${place}` : name;
}

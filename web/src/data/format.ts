// Numbers as people write them: three or four digits, the unit beside them.

const grouped = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });

const trim = (text: string) => (text.includes(".") ? text.replace(/\.?0+$/, "") : text);

/** v with n significant digits, without exponent. */
export function digits(v: number, n = 3): string {
  if (!Number.isFinite(v)) return "–";
  if (v === 0) return "0";
  const abs = Math.abs(v);
  if (abs >= 1000) return grouped.format(v);
  const places = Math.max(0, n - 1 - Math.floor(Math.log10(abs)));
  return trim(v.toFixed(Math.min(places, 12)));
}

/** Three digits, also where they are zeros; below 1,000. */
const three = (v: number): string => v.toFixed(Math.max(0, Math.min(2, 2 - Math.floor(Math.log10(Math.abs(v))))));

export const count = (v: number | undefined): string =>
  v === undefined || !Number.isFinite(v) ? "–" : grouped.format(v);

/** A rate: whole from 1,000 on, four digits below. */
export const rate = (v: number): string => digits(v, 4);

/** Microseconds for people. */
export function time(us: number | undefined | null, column = false): string {
  const figure = column ? three : digits; // in a column 1.10 stands below 1.47
  if (us === undefined || us === null || !Number.isFinite(us)) return "–";
  const abs = Math.abs(us);
  if (abs === 0) return "0";
  if (abs < 1) return `${figure(us * 1000)} ns`;
  if (abs < 999.5) return `${figure(us)} µs`;
  if (abs < 999.5e3) return `${figure(us / 1e3)} ms`;
  if (abs < 120e6) return `${digits(us / 1e6)} s`;
  if (abs < 7200e6) return `${digits(us / 60e6)} min`;
  return `${digits(us / 3600e6)} h`;
}

export function size(bytes: number | undefined | null): string {
  if (bytes === undefined || bytes === null || !Number.isFinite(bytes)) return "–";
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let i = 0;
  let v = bytes;
  while (Math.abs(v) >= 1024 && i < units.length - 1) {
    v /= 1024;
    i++;
  }
  return `${digits(v)} ${units[i]}`;
}

export const percent = (v: number | undefined | null): string =>
  v === undefined || v === null || !Number.isFinite(v) ? "–" : `${digits(v * 100)}%`;

/** Rounds to the second significant digit of the half-width: digits that the
 * interval does not support are not shown. */
export function by(v: number, half: number): string {
  if (!Number.isFinite(v)) return "–";
  if (!(half > 0)) return rate(v);
  const step = 10 ** (Math.floor(Math.log10(half)) - 1);
  const places = Math.max(0, -Math.floor(Math.log10(step)));
  const rounded = Math.round(v / step) * step;
  return rounded >= 1000 ? grouped.format(rounded) : rounded.toFixed(places);
}

/** Dates as written everywhere: no locale, no doubt. */
export function date(text: string | undefined): string {
  const t = text ? new Date(text) : undefined;
  if (!t || Number.isNaN(t.getTime())) return "";
  return `${t.toISOString().slice(0, 16).replace("T", " ")} UTC`;
}

export const plural = (n: number, what: string): string => `${count(n)} ${what}${n === 1 ? "" : "s"}`;

/** A figure of evidence by the unit at the end of its name. */
export function figure(name: string, v: number): string {
  if (name.endsWith("_us") && name !== "cpu_us_per_request") return time(v);
  if (name.endsWith("_ns")) return time(v / 1000);
  if (name.endsWith("_bytes") || name === "bytes") return size(v);
  if (/(_ratio|_share|busy|throttled|steal|pressure)$/.test(name) && Math.abs(v) <= 1.5) return percent(v);
  return digits(v, 4);
}

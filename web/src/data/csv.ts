// Tables as CSV (RFC 4180). A text that a spreadsheet would take for a formula
// gets a quote in front, since names come from anywhere.

export type Value = string | number | null | undefined;

function field(v: Value): string {
  if (v === null || v === undefined) return "";
  if (typeof v === "number") return Number.isFinite(v) ? String(v) : "";
  const safe = /^[=+\-@\t\r]/.test(v) ? `'${v}` : v;
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

export function csv(head: string[], rows: Value[][]): string {
  return [head, ...rows].map((r) => r.map(field).join(",")).join("\r\n") + "\r\n";
}

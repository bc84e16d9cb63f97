// Places in a text.

/** The place of a line and column, both from 1; of the last line where there are
 * fewer. */
export function offsetOf(text: string, line: number, column: number): number {
  const lines = text.split("\n");
  const row = Math.min(Math.max(line, 1), lines.length) - 1;
  const before = lines.slice(0, row).reduce((n, l) => n + l.length + 1, 0);
  return before + Math.min(Math.max(column, 1) - 1, lines[row]!.length);
}

/** The row and column of a place, both from 0. */
export function rowAndColumn(text: string, offset: number): { row: number; column: number } {
  const before = text.slice(0, offset).split("\n");
  return { row: before.length - 1, column: before.at(-1)!.length };
}

/** A new line begins where the last did, deeper behind a key without a value. */
export function indentAfter(before: string): string {
  const line = before.slice(before.lastIndexOf("\n") + 1);
  const own = /^\s*/.exec(line)![0];
  if (/^\s*(- +)*[\w."'\-]+:\s*$/.test(line)) return `${own}${"  ".repeat(1 + (line.match(/- /g) ?? []).length)}`;
  return own;
}

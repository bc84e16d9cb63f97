// Which runs are chosen on the list, over all its pages, and how they stand
// against each other.

import { useEffect, useState } from "preact/hooks";
import type { Row } from "./api";

const chosen = new Map<string, Row>();
const followers = new Set<() => void>();

const tell = (): void => followers.forEach((f) => f());

export function choose(row: Row, on: boolean): void {
  if (on) chosen.set(row.id, row);
  else chosen.delete(row.id);
  tell();
}

export function clear(ids: string[] = [...chosen.keys()]): void {
  ids.forEach((id) => chosen.delete(id));
  tell();
}

/** The chosen runs, in the order in which they were chosen. */
export function useChosen(): Row[] {
  const [, turn] = useState(0);
  useEffect(() => {
    const f = () => turn((n) => n + 1);
    followers.add(f);
    return () => { followers.delete(f); };
  }, []);
  return [...chosen.values()];
}

/** What a run is called: its own name, or what was measured. */
export const titleOf = (r: Row): string => r.name || [r.experiment || r.target || r.kind, r.variant].filter(Boolean).join(" · ");

/** Sides of a comparison from single runs: runs of one variant are repeats of each
 * other and make one side, unless that leaves nothing to compare. */
export function sidesOf(rows: Pick<Row, "id" | "experiment" | "variant" | "target">[]): string[] {
  const by = new Map<string, string[]>();
  for (const r of rows) {
    const key = JSON.stringify([r.experiment, r.variant ?? "", r.target]);
    by.set(key, [...(by.get(key) ?? []), r.id]);
  }
  const sides = [...by.values()];
  return sides.length < 2 ? rows.map((r) => r.id) : sides.map((ids) => ids.join(","));
}

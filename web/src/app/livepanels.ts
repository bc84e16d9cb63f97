// The charts of a running trial, from what its seconds told.

import type { Frame } from "../charts/time";
import type { Panel } from "../data/series";
import type { LiveState } from "./livestate";

const unit = (panel: Omit<Panel, "group">): Panel => ({ ...panel, group: "load" }) as Panel;

/** When the warm-up was over; 0 while it lasts and where there is none. */
export function warmUntil(state: LiveState): number {
  const i = state.seconds.findIndex((s) => !s.warmup);
  return i > 0 ? (state.seconds[i - 1]!.at + state.seconds[i]!.at) / 2 : 0;
}

/** The warm-up is shaded, like everything outside the window. */
export function frameOf(state: LiveState): Frame {
  const warm = warmUntil(state);
  const last = state.seconds.at(-1);
  const end = Math.max((last?.at ?? 0) + 0.5, (state.progress?.total ?? 0) / 1e6, 5);
  return { from: Math.min(state.seconds[0]?.at ?? 0, 0) - warm, to: end - warm, window: last?.warmup ? 0 : Infinity, marks: [] };
}

export function panelsOf(state: LiveState): Panel[] {
  const warm = warmUntil(state);
  const x = state.seconds.map((s) => s.at - warm);
  const y = (of: (s: LiveState["seconds"][number]) => number | undefined) => state.seconds.map((s) => of(s) ?? null);
  const lines = (all: [string, (s: LiveState["seconds"][number]) => number | undefined, boolean?][]) => all.map(([label, of, dash]) => ({ label, x, y: y(of), dash }));
  return [
    unit({ id: "rate", title: "Requests/s", unit: "rate", lines: lines([["answers", (s) => s.rate]]) }),
    unit({ id: "latency", title: "Response time", unit: "time", log: true, lines: lines([["p99", (s) => s.p99], ["p50", (s) => s.p50, true]]) }),
  ];
}

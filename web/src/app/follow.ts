// Follows the events of an experiment (server-sent events). A connection that
// is lost comes again by itself, also where the browser gives up.

import { useEffect, useState } from "preact/hooks";
import { get, segment, type Live } from "./api";
import { START, step, type LiveState } from "./livestate";

/** Gone: the server answers again, and no longer knows the experiment. */
export type Link = "connecting" | "connected" | "lost" | "gone";

const NAMES = ["campaign", "trial", "phase", "progress", "observed", "finding", "finished", "ended"];

/** How long to wait before the next attempt, in milliseconds: longer each time,
 * ten seconds at most. */
export const patience = (attempt: number): number => Math.min(10_000, 500 * 2 ** attempt);

export function useEvents(id: string): { state: LiveState; link: Link } {
  const [state, set] = useState<LiveState>(START);
  const [link, setLink] = useState<Link>("connecting");
  useEffect(() => {
    let source: EventSource | undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let attempt = 0;
    let over = false;
    // Many events come at once when one joins late; they are drawn once.
    let waiting: [number, Record<string, unknown>][] = [];
    let drawing = 0;
    const draw = () => {
      drawing = 0;
      const all = waiting;
      waiting = [];
      set((s) => all.reduce((to, [n, e]) => step(to, n, e), s));
    };
    const heard = (m: MessageEvent<string>) => {
      let e: Record<string, unknown>;
      try {
        e = JSON.parse(m.data) as Record<string, unknown>;
      } catch {
        return; // not of this server
      }
      waiting.push([Number(m.lastEventId), e]);
      if (e.event === "ended") {
        over = true;
        source?.close();
      }
      drawing ||= window.setTimeout(draw, 50);
    };
    const connect = () => {
      source = new EventSource(`/api/live/${segment(id)}`);
      source.onopen = () => { attempt = 0; setLink("connected"); };
      source.onerror = () => {
        if (over) return;
        setLink("lost");
        if (source?.readyState !== EventSource.CLOSED) return; // the browser tries again, from the last event on
        timer = setTimeout(again, patience(attempt++));
      };
      NAMES.forEach((n) => source!.addEventListener(n, heard));
    };
    const again = () => get<{ live: Live[] }>("/api/live").then(
      ({ live }) => {
        if (over) return;
        if (live.some((l) => l.id === id)) connect(); // from the first event on: what is known already is left out
        else setLink("gone");
      },
      () => { if (!over) timer = setTimeout(again, patience(attempt++)); },
    );
    connect();
    return () => {
      over = true;
      source?.close();
      clearTimeout(timer);
      clearTimeout(drawing);
    };
  }, [id]);
  return { state, link };
}

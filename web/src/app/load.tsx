// Asking the server, and what stands in the page until it has answered, or in
// place of an answer.

import type { ComponentChildren } from "preact";
import { useCallback, useEffect, useState } from "preact/hooks";
import { Trouble } from "./api";

export interface Asked<T> {
  data?: T;
  trouble?: Trouble;
  busy: boolean;
  again: () => void;
}

export const asTrouble = (e: unknown): Trouble => (e instanceof Trouble ? e : new Trouble(e instanceof Error ? e.message : String(e)));

/** Asks, and asks again when what is asked for changes. The former answer stays
 * until the next one is there; one that was overtaken is dropped. */
export function useAsk<T>(what: string, ask: (signal: AbortSignal) => Promise<T>): Asked<T> {
  const [state, set] = useState<{ of: string; data?: T; trouble?: Trouble; busy: boolean }>({ of: what, busy: true });
  const [turn, next] = useState(0);
  useEffect(() => {
    const c = new AbortController();
    set((s) => ({ ...s, busy: true }));
    ask(c.signal).then(
      (data) => !c.signal.aborted && set({ of: what, data, busy: false }),
      (e: unknown) => !c.signal.aborted && set((s) => ({ of: what, data: s.of === what ? s.data : undefined, trouble: asTrouble(e), busy: false })),
    );
    return () => c.abort();
  }, [what, turn]);
  return { ...state, again: useCallback(() => next((n) => n + 1), []) };
}

/** An error in words, with a way on. */
export function Problem({ of, again, children }: { of: Trouble; again?: () => void; children?: ComponentChildren }) {
  const remedy = of.status === 401 ? "This server wants its token: reload the page and give it as the password, with any name." : "";
  return (
    <div class="problem" role="alert">
      <p><strong>{of.status === 404 ? "Not found." : "That did not work."}</strong> {of.message}</p>
      {remedy && <p>{remedy}</p>}
      {children}
      {again && <button type="button" onClick={again}>Try again</button>}
    </div>
  );
}

/** What was asked for, or why it is not there. */
export function Shown<T>({ of, what, children }: { of: Asked<T>; what: string; children: (data: T) => ComponentChildren }) {
  return (
    <>
      {of.trouble && <Problem of={of.trouble} again={of.again} />}
      {of.data !== undefined ? children(of.data) : !of.trouble && <p class="waiting" role="status">Loading {what} …</p>}
    </>
  );
}

/** Something the user asked for that changes something: what is going on, and
 * what became of it. */
export function useAct(): { act: (does: () => Promise<string | void>) => Promise<boolean>; busy: boolean; said: ComponentChildren } {
  const [busy, setBusy] = useState(false);
  const [done, setDone] = useState("");
  const [trouble, setTrouble] = useState<Trouble>();
  const act = async (does: () => Promise<string | void>) => {
    setBusy(true);
    setTrouble(undefined);
    setDone("");
    try {
      setDone((await does()) ?? "");
      return true;
    } catch (e) {
      setTrouble(asTrouble(e));
      return false;
    } finally {
      setBusy(false);
    }
  };
  const said = (
    <>
      <p class="said" role="status">{done}</p>
      {trouble && <Problem of={trouble} />}
    </>
  );
  return { act, busy, said };
}

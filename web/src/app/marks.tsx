// Names, tags, notes, and taking runs out: what people add to runs.

import { useEffect, useRef, useState } from "preact/hooks";
import { plural } from "../data/format";
import { segment, send, type Row } from "./api";

export const setName = (id: string, name: string) => send<Row>("PUT", `/api/runs/${segment(id)}/name`, { name });
export const addNote = (id: string, text: string) => send<Row>("POST", `/api/runs/${segment(id)}/notes`, { text });
export const addTags = (id: string, tags: string[]) => send<Row>("POST", `/api/runs/${segment(id)}/tags`, { tags });
export const takeTag = (id: string, tag: string) => send<Row>("DELETE", `/api/runs/${segment(id)}/tags/${segment(tag)}`);
export const remove = (id: string) => send("DELETE", `/api/runs/${segment(id)}`);

/** Does one thing after the other, and says how far it came. */
export async function each(ids: string[], does: (id: string) => Promise<unknown>): Promise<void> {
  for (const [i, id] of ids.entries()) {
    try {
      await does(id);
    } catch (e) {
      if (i > 0 && e instanceof Error) e.message = `${i} of ${ids.length} done, then ${id}: ${e.message}`;
      throw e;
    }
  }
}

export interface Question {
  title: string;
  label?: string;
  value?: string;
  long?: boolean;
  says?: string;
  yes: string;
  grave?: boolean;
  then: (text: string) => void;
}

/** Asks for a text or for a yes, in a dialog that takes the keyboard and gives it
 * back. */
export function Ask({ of, close }: { of: Question; close: () => void }) {
  const box = useRef<HTMLDialogElement>(null);
  const [text, set] = useState(of.value ?? "");
  useEffect(() => {
    const before = document.activeElement;
    box.current?.showModal();
    return () => { if (before instanceof HTMLElement) before.focus(); };
  }, []);
  const submit = (e: Event) => {
    e.preventDefault();
    close();
    of.then(text.trim());
  };
  const typed = (e: Event) => set((e.currentTarget as HTMLInputElement).value);
  return (
    <dialog ref={box} onClose={close} aria-labelledby="ask-title">
      <form onSubmit={submit}>
        <h2 id="ask-title">{of.title}</h2>
        {of.says && <p>{of.says}</p>}
        {of.label && (
          <label class="field">
            <span>{of.label}</span>
            {of.long ? <textarea rows={4} value={text} onInput={typed} autofocus /> : <input type="text" value={text} onInput={typed} autofocus autocomplete="off" />}
          </label>
        )}
        <p class="actions">
          <button type="submit" class={of.grave ? "grave" : "main"}>{of.yes}</button>
          <button type="button" onClick={close} autofocus={!of.label}>Cancel</button>
        </p>
      </form>
    </dialog>
  );
}

export const askRemove = (rows: Row[], then: () => void): Question => ({
  title: rows.length === 1 ? "Delete this run?" : `Delete ${plural(rows.length, "run")}?`,
  says: "It goes with its notes, tags and logs, and cannot be brought back. A bundle that was saved before can be imported again.",
  yes: "Delete",
  grave: true,
  then,
});

/** "a, b c" are three tags. */
export const tagsIn = (text: string): string[] => [...new Set(text.split(/[\s,]+/).filter(Boolean))];

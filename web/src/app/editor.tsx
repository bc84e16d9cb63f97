// A plain text field with line numbers, what may stand at the cursor, and the
// mistakes marked. Tab leaves it, as everywhere: nobody is caught inside.

import { useEffect, useLayoutEffect, useId, useMemo, useRef, useState } from "preact/hooks";
import type { Mistake } from "./api";
import { complete, type Completion, type Schema } from "./complete";
import { indentAfter, offsetOf, rowAndColumn } from "./place";

const NONE: Completion = { from: 0, items: [] };

interface Editor {
  text: string;
  change: (text: string) => void;
  schema?: Schema;
  mistakes: Mistake[];
  /** Changes when the cursor is to go to a place. */
  goTo?: { line: number; column: number; turn: number };
}

export function Editor({ text, change, schema, mistakes, goTo }: Editor) {
  const area = useRef<HTMLTextAreaElement>(null);
  const cursor = useRef<number | undefined>(undefined);
  const [offered, offer] = useState<Completion>(NONE);
  const [chosen, select] = useState(0);
  const [scroll, setScroll] = useState({ top: 0, left: 0 });
  const id = useId();
  const lines = text.split("\n").length;
  const wrong = useMemo(() => new Set(mistakes.map((m) => m.line)), [mistakes]);

  // Before the next key: an effect behind the paint would move the cursor back
  // over what was typed meanwhile.
  useLayoutEffect(() => {
    if (cursor.current === undefined) return;
    area.current?.setSelectionRange(cursor.current, cursor.current);
    cursor.current = undefined;
  }, [text]);
  useEffect(() => {
    if (!goTo || !area.current) return;
    const to = offsetOf(text, goTo.line, goTo.column);
    area.current.focus();
    area.current.setSelectionRange(to, to);
  }, [goTo?.turn]);

  const look = (of: string, at: number) => {
    offer(schema ? complete(schema, of, at) : NONE);
    select(0);
  };
  const put = (from: number, to: number, insert: string) => {
    cursor.current = from + insert.length;
    const all = text.slice(0, from) + insert + text.slice(to);
    change(all);
    return all;
  };
  const take = (i: number) => {
    const item = offered.items[i];
    if (!item || !area.current) return;
    const all = put(offered.from, area.current.selectionStart, item.insert);
    if (item.insert.endsWith(": ")) look(all, offered.from + item.insert.length);
    else offer(NONE);
    area.current.focus();
  };
  const typed = (e: Event) => {
    const el = e.currentTarget as HTMLTextAreaElement;
    change(el.value);
    const letter = el.value[el.selectionStart - 1] ?? "";
    const grew = el.value.length > text.length;
    if (grew && (/\w/.test(letter) || offered.items.length > 0)) look(el.value, el.selectionStart);
    else offer(NONE);
  };
  const pressed = (e: KeyboardEvent) => {
    const el = e.currentTarget as HTMLTextAreaElement;
    const n = offered.items.length;
    if ((e.ctrlKey || e.metaKey) && e.key === " ") {
      e.preventDefault();
      look(el.value, el.selectionStart);
    } else if (n > 0 && (e.key === "ArrowDown" || e.key === "ArrowUp")) {
      e.preventDefault();
      select((chosen + (e.key === "ArrowDown" ? 1 : n - 1)) % n);
    } else if (n > 0 && (e.key === "Enter" || e.key === "Tab") && !e.shiftKey) {
      e.preventDefault();
      take(chosen);
    } else if (n > 0 && e.key === "Escape") {
      e.preventDefault();
      offer(NONE);
    } else if (e.key === "Enter" && el.selectionStart === el.selectionEnd) {
      e.preventDefault();
      put(el.selectionStart, el.selectionEnd, `\n${indentAfter(el.value.slice(0, el.selectionStart))}`);
    } else if (/^(Arrow|Home|End|Page)/.test(e.key)) offer(NONE);
  };
  const place = offered.items.length > 0 ? rowAndColumn(text, offered.from) : undefined;
  return (
    <div class="editor">
      <div class="gutter" aria-hidden="true"><div style={{ transform: `translateY(${-scroll.top}px)` }}>
        {Array.from({ length: lines }, (_, i) => <span class={wrong.has(i + 1) ? "wrong" : undefined}>{i + 1}</span>)}
      </div></div>
      <textarea
        ref={area}
        value={text}
        rows={24}
        wrap="off"
        spellcheck={false}
        autocapitalize="off"
        autocomplete="off"
        aria-label="Experiment file (YAML)"
        aria-describedby={`${id}-help`}
        aria-invalid={mistakes.length > 0}
        aria-autocomplete="list"
        aria-controls={offered.items.length > 0 ? `${id}-list` : undefined}
        aria-activedescendant={offered.items.length > 0 ? `${id}-${chosen}` : undefined}
        onInput={typed}
        onKeyDown={pressed}
        onBlur={() => offer(NONE)}
        onClick={() => offer(NONE)}
        onScroll={(e) => setScroll({ top: e.currentTarget.scrollTop, left: e.currentTarget.scrollLeft })}
      />
      {place && <Offered of={offered} id={id} chosen={chosen} take={take} place={place} scroll={scroll} />}
      <p id={`${id}-help`} class="unseen">Control and space shows what may stand at the cursor.</p>
      <p class="unseen" role="status">{offered.items.length > 0 ? `${offered.items.length} suggestions. ${offered.items[chosen]?.label ?? ""}` : ""}</p>
    </div>
  );
}

interface OfferedOf {
  of: Completion;
  id: string;
  chosen: number;
  take: (i: number) => void;
  place: { row: number; column: number };
  scroll: { top: number; left: number };
}

function Offered({ of, id, chosen, take, place, scroll }: OfferedOf) {
  const list = useRef<HTMLUListElement>(null);
  useEffect(() => { list.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" }); }, [chosen, of]);
  const style = { top: `calc(${place.row + 1} * var(--line) + 12px - ${scroll.top}px)`, left: `calc(var(--gutter) + 12px + ${Math.min(place.column, 40)}ch - ${scroll.left}px)` };
  return (
    <ul ref={list} class="offered" role="listbox" aria-label="What may stand here" id={`${id}-list`} style={style}>
      {of.items.map((item, i) => (
        <li id={`${id}-${i}`} role="option" aria-selected={i === chosen} onMouseDown={(e) => { e.preventDefault(); take(i); }}>
          <b>{item.label}</b> <span>{item.detail}</span>
        </li>
      ))}
    </ul>
  );
}

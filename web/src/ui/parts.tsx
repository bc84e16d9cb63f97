// The building blocks of every page.

import type { ComponentChildren } from "preact";
import { useId, useState } from "preact/hooks";
import { csv, type Value } from "../data/csv";
import type { Severity, Verdict } from "../data/types";
import { fileName, save } from "./save";

export function Brand() {
  return (
    <span class="brand">
      <svg width="20" height="20" viewBox="0 0 20 20" aria-hidden="true">
        <path d="M2 14a8 8 0 0 1 16 0" fill="none" stroke="currentColor" stroke-width="2.2" stroke-linecap="round" />
        <path d="M10 14L14.5 7.5" stroke="currentColor" stroke-width="2.2" stroke-linecap="round" />
      </svg>
      Prony
    </span>
  );
}

export function Section({ id, title, lead, children }: { id: string; title: string; lead?: ComponentChildren; children: ComponentChildren }) {
  return (
    <section id={id} aria-labelledby={`${id}-title`}>
      <h2 id={`${id}-title`}>{title}</h2>
      {lead && <p class="lead">{lead}</p>}
      {children}
    </section>
  );
}

const SHAPES: Record<string, string> = {
  valid: "M3 8.5l3.2 3.2L13 5",
  suspect: "M8 3.5v6M8 12.2v.6",
  invalid: "M4 4l8 8M12 4l-8 8",
  note: "M8 7v5M8 3.6v.6",
  info: "M8 7v5M8 3.6v.6",
};

export function Mark({ of }: { of: Verdict | Severity }) {
  const known = of in SHAPES ? of : "suspect";
  return (
    <svg class={`mark ${known}`} width="16" height="16" viewBox="0 0 16 16" aria-hidden="true">
      <path d={SHAPES[known]} fill="none" stroke="currentColor" stroke-width="2" stroke-linecap="round" stroke-linejoin="round" />
    </svg>
  );
}

export function Badge({ of, text }: { of: Verdict | Severity; text?: string }) {
  const known = of in SHAPES ? of : "suspect";
  return (
    <span class={`badge ${known}`}>
      <Mark of={known} />
      {text ?? of}
    </span>
  );
}

export interface Column {
  title: string;
  /** Numbers stand right, in figures of one width. */
  number?: boolean;
}

/** A table that scrolls inside itself on a narrow screen. */
export function Table({ caption, columns, rows, hidden }: { caption: string; columns: (string | Column)[]; rows: ComponentChildren[][]; hidden?: boolean }) {
  const cols = columns.map((c) => (typeof c === "string" ? { title: c } : c) as Column);
  return (
    <div class="scroll" role="region" aria-label={caption} tabIndex={0}>
      <table>
        <caption class={hidden ? "unseen" : undefined}>{caption}</caption>
        <thead>
          <tr>
            {cols.map((c) => (
              <th scope="col" class={c.number ? "number" : undefined}>{c.title}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((r) => (
            <tr>
              {r.map((cell, i) =>
                i === 0 ? <th scope="row" class={cols[i]?.number ? "number" : undefined}>{cell}</th> : <td class={cols[i]?.number ? "number" : undefined}>{cell}</td>,
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

export function Pairs({ of }: { of: [string, ComponentChildren][] }) {
  return (
    <dl class="pairs">
      {of.filter(([, v]) => v !== undefined && v !== null && v !== "").map(([k, v]) => (
        <div>
          <dt>{k}</dt>
          <dd>{v}</dd>
        </div>
      ))}
    </dl>
  );
}

/** What is behind a chart: the same figures as a table, and as a file. */
export interface Behind {
  head: string[];
  rows: Value[][];
}

const SHOWN_ROWS = 120;

/** A chart with its title, its legend of words, and its figures beside it. */
export function Figure({ title, note, behind, children }: { title: string; note?: ComponentChildren; behind: () => Behind; children: ComponentChildren }) {
  const id = useId();
  return (
    <figure aria-labelledby={id}>
      <figcaption id={id}>{title}</figcaption>
      {children}
      {note && <p class="hint">{note}</p>}
      <Numbers title={title} behind={behind} />
    </figure>
  );
}

function Numbers({ title, behind }: { title: string; behind: () => Behind }) {
  const [open, setOpen] = useState(false);
  const data = open ? behind() : undefined;
  const cell = (v: Value) => (typeof v === "number" ? (Number.isFinite(v) ? String(+v.toPrecision(5)) : "") : v);
  return (
    <details class="numbers" onToggle={(e) => setOpen((e.currentTarget as HTMLDetailsElement).open)}>
      <summary>The numbers<span class="unseen"> behind: {title}</span></summary>
      {data && (
        <>
          <button type="button" class="quiet" onClick={() => save(`${fileName(title)}.csv`, "text/csv", csv(data.head, data.rows))}>
            Save as CSV
          </button>
          <Table caption={`${title}: the numbers`} hidden columns={data.head.map((t, i) => ({ title: t, number: i > 0 }))} rows={data.rows.slice(0, SHOWN_ROWS).map((r) => r.map(cell))} />
          {data.rows.length > SHOWN_ROWS && <p class="hint">The first {SHOWN_ROWS} of {data.rows.length} rows; the file has all.</p>}
        </>
      )}
    </details>
  );
}

export function Legend({ items }: { items: { label: string; colour: string; dash?: boolean; shape?: "line" | "dot" | "hollow" }[] }) {
  return (
    <ul class="legend">
      {items.map((i) => (
        <li>
          <svg width="22" height="10" viewBox="0 0 22 10" aria-hidden="true" style={{ color: `var(${i.colour})` }}>
            {i.shape === "dot" || i.shape === "hollow" ? (
              <circle cx="11" cy="5" r="4" fill={i.shape === "dot" ? "currentColor" : "none"} stroke="currentColor" stroke-width="1.5" />
            ) : (
              <path d="M1 5h20" stroke="currentColor" stroke-width="2.5" stroke-dasharray={i.dash ? "5 3" : undefined} />
            )}
          </svg>
          {i.label}
        </li>
      ))}
    </ul>
  );
}

/** Text to copy, such as a command. */
export function Code({ text, label }: { text: string; label: string }) {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setCopied(true);
      setTimeout(() => setCopied(false), 2000);
    } catch {
      setCopied(false); // not allowed in a file: the text can be selected
    }
  };
  return (
    <div class="code">
      <pre tabIndex={0} role="region" aria-label={label}><code>{text}</code></pre>
      <button type="button" class="quiet" onClick={copy} aria-label={`Copy: ${label}`}>
        <span aria-live="polite">{copied ? "Copied" : "Copy"}</span>
      </button>
    </div>
  );
}

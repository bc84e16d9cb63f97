// The list of runs: filter, pages, and what can be done with those that are
// chosen. The filter is the query of the address, so that it can be kept.

import { useEffect, useRef, useState } from "preact/hooks";
import { count, percent, plural, rate, time } from "../data/format";
import { limitName } from "../data/limits";
import { Badge } from "../ui/parts";
import { get, query, segment, type List, type Row, type Subject } from "./api";
import { Heading } from "./app";
import { Shown, useAct, useAsk } from "./load";
import { addNote, addTags, Ask, askRemove, each, remove, setName, tagsIn, type Question } from "./marks";
import { choose, clear, sidesOf, titleOf, useChosen } from "./pick";
import { go, Link } from "./router";

const FILTERS = ["text", "verdict", "experiment", "variant", "campaign", "tag", "kind", "since", "until"] as const;
type Filter = Partial<Record<(typeof FILTERS)[number], string>>;

const LIMIT = 50;

export function filterIn(q: URLSearchParams): Filter {
  return Object.fromEntries(FILTERS.flatMap((f) => (q.get(f) ? [[f, q.get(f)!]] : [])));
}

export function RunsPage({ q }: { q: URLSearchParams }) {
  const filter = filterIn(q);
  const after = q.get("after") ?? "";
  const path = query("/api/runs", { ...filter, limit: LIMIT, after });
  const list = useAsk(path, (s) => get<List>(path, s));
  const chosen = useChosen();
  return (
    <>
      <div class="page-head">
        <Heading title="Runs" />
        <p class="actions"><Link to="/new" class="button main">New experiment</Link> <Link to="/audit" class="button">Check or import a result</Link></p>
      </div>
      <Filters filter={filter} />
      {chosen.length > 0 && <Chosen rows={chosen} again={list.again} />}
      <Shown of={list} what="the runs">
        {(l) => (l.runs.length === 0 && !after ? <Nothing filtered={Object.keys(filter).length > 0} /> : <Rows list={l} filter={filter} after={after} busy={list.busy} chosen={chosen} />)}
      </Shown>
    </>
  );
}

const set = (filter: Filter, more: Filter & { after?: string }, instead = false) => go(query("/", { ...filter, ...more }), instead);

function Filters({ filter }: { filter: Filter }) {
  const subjects = useAsk("experiments", (s) => get<{ experiments: Subject[] }>("/api/experiments", s));
  const experiments = [...new Set((subjects.data?.experiments ?? []).map((e) => e.experiment))].filter(Boolean);
  const choice = (name: "verdict" | "experiment" | "kind", label: string, all: string, values: string[]) => (
    <label class="field">
      <span>{label}</span>
      <select value={filter[name] ?? ""} onChange={(e) => set(filter, { [name]: e.currentTarget.value })}>
        <option value="">{all}</option>
        {[...new Set([...values, filter[name] ?? ""])].filter(Boolean).map((v) => <option value={v}>{v}</option>)}
      </select>
    </label>
  );
  const [more, showMore] = useState(() => Object.keys(filter).some((f) => f !== "text"));
  return (
    <form class={more ? "filters" : "filters few"} role="search" aria-label="Filter the runs" onSubmit={(e) => e.preventDefault()}>
      <Typed name="text" label="Search" hint="experiment, target, note, finding" filter={filter} wide />
      <button type="button" class="quiet more" aria-expanded={more} onClick={() => showMore(!more)}>More filters</button>
      {choice("verdict", "Verdict", "any", ["valid", "suspect", "invalid"])}
      {choice("experiment", "Experiment", "all", experiments)}
      <Typed name="tag" label="Tag" filter={filter} />
      {choice("kind", "Made by", "any", ["load", "wrk", "ab"])}
      <label class="field">
        <span>Since</span>
        <input type="date" value={(filter.since ?? "").slice(0, 10)} onChange={(e) => set(filter, { since: e.currentTarget.value })} />
      </label>
      {Object.keys(filter).length > 0 && <button type="button" class="quiet" onClick={() => go("/")}>Clear the filter</button>}
      {(["variant", "campaign", "until"] as const).filter((f) => filter[f]).map((f) => (
        <button type="button" class="chip" onClick={() => set(filter, { [f]: "" })}>{f}: {filter[f]} <span aria-hidden="true">×</span><span class="unseen">, take this away</span></button>
      ))}
    </form>
  );
}

/** A text that filters a moment after the last letter. */
function Typed({ name, label, hint, filter, wide }: { name: "text" | "tag"; label: string; hint?: string; filter: Filter; wide?: boolean }) {
  const given = filter[name] ?? "";
  const [text, setText] = useState(given);
  const asked = useRef(given);
  if (asked.current !== given && text !== given) {
    asked.current = given;
    setText(given);
  }
  useEffect(() => {
    if (text.trim() === given) return;
    const timer = setTimeout(() => {
      asked.current = text.trim();
      set(filter, { [name]: text.trim() }, true);
    }, 250);
    return () => clearTimeout(timer);
  }, [text]);
  return (
    <label class={wide ? "field wide" : "field"}>
      <span>{label}</span>
      <input type="search" value={text} placeholder={hint} onInput={(e) => setText(e.currentTarget.value)} />
    </label>
  );
}

function Nothing({ filtered }: { filtered: boolean }) {
  if (filtered) return <p class="empty" role="status">No run fits this filter. <button type="button" class="link" onClick={() => go("/")}>Show all runs</button></p>;
  return (
    <div class="empty" role="status">
      <p>No run is kept yet.</p>
      <p>Make one with <code>prony load http://127.0.0.1:8080/</code>, <Link to="/new">write an experiment</Link>, or <Link to="/audit">import a bundle</Link>.</p>
    </div>
  );
}

function Rows({ list, filter, after, busy, chosen }: { list: List; filter: Filter; after: string; busy: boolean; chosen: Row[] }) {
  const on = new Set(chosen.map((r) => r.id));
  const all = list.runs.length > 0 && list.runs.every((r) => on.has(r.id));
  return (
    <>
      <p class="hint" role="status" aria-live="polite">{plural(list.total, "run")}{busy ? ", looking again …" : ", newest first; times are UTC. Tick runs to compare, tag or delete them."}</p>
      <div class="scroll list" role="region" aria-label="Runs" tabIndex={0}>
        <table>
          <caption class="unseen">Runs, newest first</caption>
          <thead>
            <tr>
              <th scope="col"><input type="checkbox" aria-label="Choose all on this page" checked={all} onChange={(e) => list.runs.forEach((r) => choose(r, e.currentTarget.checked))} /></th>
              <th scope="col">Verdict</th><th scope="col">Run</th><th scope="col" class="number">Requests/s</th><th scope="col" class="number">p50</th>
              <th scope="col" class="number">p99</th><th scope="col" class="number">Errors</th><th scope="col">Limited by, and what is wrong</th><th scope="col">Started</th>
            </tr>
          </thead>
          <tbody>{list.runs.map((r, i) => <One r={r} on={on.has(r.id)} filter={filter} first={!r.campaign || r.campaign !== list.runs[i - 1]?.campaign} />)}</tbody>
        </table>
      </div>
      <nav class="pages" aria-label="Pages of the list">
        {after && <button type="button" onClick={() => set(filter, {})}>Newest</button>}
        {after && <button type="button" onClick={() => history.back()}>Back</button>}
        {list.next && <button type="button" onClick={() => set(filter, { after: list.next })}>Older runs</button>}
      </nav>
    </>
  );
}

function One({ r, on, filter, first }: { r: Row; on: boolean; filter: Filter; first: boolean }) {
  const title = titleOf(r);
  return (
    <tr class={on ? "chosen" : undefined}>
      <td><input type="checkbox" aria-label={`Choose ${title}, ${r.id}`} checked={on} onChange={(e) => choose(r, e.currentTarget.checked)} /></td>
      <td><Badge of={r.error ? "invalid" : r.verdict || "suspect"} text={r.error ? "failed" : r.verdict || "unknown"} /></td>
      <th scope="row">
        <Link to={`/runs/${segment(r.id)}`}>{title}</Link>
        {r.baseline && <span class="tag">baseline</span>}
        <span class="under">
          {r.name ? `${[r.experiment, r.variant].filter(Boolean).join(" · ")} ` : ""}
          {r.campaign ? <>trial {r.number}{first && <> of <Link to={`/campaigns/${segment(r.campaign)}`}>this experiment</Link></>} </> : r.experiment ? `${r.target} ` : ""}
          {(r.tags ?? []).map((t) => <button type="button" class="chip" onClick={() => set(filter, { tag: t })} aria-label={`Tag ${t}: show its runs`}>{t}</button>)}
          {r.notes ? <span>{plural(r.notes, "note")}</span> : null}
        </span>
      </th>
      <td class="number">{r.error ? "–" : rate(r.rate)}</td>
      <td class="number">{time(r.p50_us, true)}</td>
      <td class="number">{time(r.p99_us, true)}</td>
      <td class="number">{percent(r.errors)}</td>
      <td class="why"><Why r={r} /></td>
      <td class="when"><time dateTime={r.started} title={r.started}>{moment(r.started)}<span class="seconds">{r.started.slice(16, 19)}</span></time></td>
    </tr>
  );
}

/** What limited it; of a run that cannot be used as it is, why. */
function Why({ r }: { r: Row }) {
  if (r.error) return <>{r.error}</>;
  const limit = r.verdict === "invalid" && (!r.bottleneck || r.bottleneck === "not-identified") ? "" : limitName(r.bottleneck);
  return (
    <>
      {limit && <span>{limit}</span>}
      {r.reason && <span class="under">{r.verdict}: {r.reason}</span>}
    </>
  );
}

export const moment = (text: string): string => {
  const t = new Date(text);
  return Number.isNaN(t.getTime()) ? text : t.toISOString().slice(0, 16).replace("T", " ");
};

/** What can be done with the chosen runs. */
function Chosen({ rows, again }: { rows: Row[]; again: () => void }) {
  const [question, ask] = useState<Question>();
  const { act, said } = useAct();
  const ids = rows.map((r) => r.id);
  const one = rows.length === 1 ? rows[0]! : undefined;
  const then = (what: () => Promise<unknown>, done: string) => void act(async () => { await what(); again(); return done; });
  const tag: Question = { title: `Tag ${plural(rows.length, "run")}`, label: "Tags, with spaces between", yes: "Tag", then: (t) => tagsIn(t).length > 0 && then(() => each(ids, (id) => addTags(id, tagsIn(t))), "Tagged.") };
  const gone = askRemove(rows, () => then(async () => { await each(ids, async (id) => { await remove(id); clear([id]); }); }, "Deleted."));
  return (
    <div class="chosen-bar" role="region" aria-label="The chosen runs">
      <strong>{count(rows.length)} chosen</strong>
      <button type="button" class="main" disabled={rows.length < 2} onClick={() => go(query("/compare", { side: sidesOf(rows) }))}>Compare{rows.length < 2 ? " (choose two or more)" : ""}</button>
      <button type="button" onClick={() => ask(tag)}>Tag …</button>
      {one && <button type="button" onClick={() => ask({ title: "Name this run", label: "Name; empty takes it away", value: one.name, yes: "Name", then: (t) => then(() => setName(one.id, t), "Named.") })}>Name …</button>}
      <button type="button" onClick={() => ask({ title: "Write a note", label: "Note", long: true, yes: "Write", then: (t) => t && then(() => each(ids, (id) => addNote(id, t)), "Written.") })}>Note …</button>
      <button type="button" onClick={() => ask(gone)}>Delete …</button>
      <button type="button" class="quiet" onClick={() => clear()}>Choose none</button>
      {said}
      {question && <Ask of={question} close={() => ask(undefined)} />}
    </div>
  );
}

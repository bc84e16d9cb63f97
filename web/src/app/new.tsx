// A new experiment: its file, what is wrong with it, what it would do, and its
// start.

import { useEffect, useRef, useState } from "preact/hooks";
import { plural } from "../data/format";
import { Code } from "../ui/parts";
import { fileName, save } from "../ui/save";
import { get, segment, send, Trouble, type Draft, type Live, type Mistake, type Version } from "./api";
import { Heading } from "./app";
import type { Schema } from "./complete";
import { Editor } from "./editor";
import { asTrouble, Problem, useAsk } from "./load";
import { go, Link } from "./router";

const EXAMPLE = `# What is to be found out, in one sentence.
prony: 1
name: two-instances
question: Does a second instance behind nginx double the throughput?

services:
  app:
    catalog: hello
    limits: {cpus: 200m}
  gateway:
    catalog: nginx
    upstream: app

load:
  target: gateway
  connections: 32
  duration: 10s
  warmup: 2s

vary:
  app.instances: [1, 2]
baseline: {app.instances: 1}

repeat: 5
expect:
  - errors < 0.1%
`;

const KEPT = "prony-draft"; // in this tab, until it is closed

export function NewPage({ version }: { version: Version | undefined }) {
  const [text, setText] = useState(() => sessionStorage.getItem(KEPT) ?? EXAMPLE);
  const [goTo, setGoTo] = useState<{ line: number; column: number; turn: number }>();
  const schema = useAsk("schema", (s) => get<Schema>("/api/schema", s));
  const { draft, trouble, busy, again } = useDraft(text);
  const change = (t: string) => {
    setText(t);
    sessionStorage.setItem(KEPT, t);
  };
  const mistakes = draft?.mistakes ?? [];
  const show = (m: Mistake) => setGoTo((g) => ({ line: m.line, column: m.column, turn: (g?.turn ?? 0) + 1 }));
  return (
    <>
      <div class="page-head"><Heading title="New experiment" /></div>
      <p class="lead">Write it here; beside it stands what it would do. Nothing runs before you start it. Control and space shows what may stand at the cursor.</p>
      <div class="desk">
        <div>
          <Editor text={text} change={change} schema={schema.data} mistakes={mistakes} goTo={goTo} />
          {schema.trouble && <p class="hint">No suggestions: {schema.trouble.message}</p>}
        </div>
        <div class="beside">
          {trouble && <Problem of={trouble} again={again} />}
          <Mistakes of={mistakes} show={show} />
          {draft && mistakes.length === 0 && <Planned draft={draft} busy={busy} />}
          {!draft && !trouble && <p class="waiting" role="status">Reading it …</p>}
        </div>
      </div>
      <Start text={text} draft={draft} ready={mistakes.length === 0 && !busy} version={version} wrong={mistakes.length} />
    </>
  );
}

/** What the server says to the text, a moment after the last letter. */
function useDraft(text: string): { draft?: Draft; trouble?: Trouble; busy: boolean; again: () => void } {
  const [state, set] = useState<{ of?: string; draft?: Draft; trouble?: Trouble }>({});
  const [turn, next] = useState(0);
  const first = useRef(true);
  useEffect(() => {
    const c = new AbortController();
    const timer = setTimeout(() => {
      send<Draft>("POST", "/api/plan", { experiment: text }, c.signal).then(
        (draft) => !c.signal.aborted && set({ of: text, draft }),
        (e: unknown) => !c.signal.aborted && set((s) => ({ ...s, of: text, trouble: asTrouble(e) })),
      );
    }, first.current ? 0 : 400);
    first.current = false;
    return () => {
      clearTimeout(timer);
      c.abort();
    };
  }, [text, turn]);
  return { ...state, busy: state.of !== text, again: () => next((n) => n + 1) };
}

function Mistakes({ of, show }: { of: Mistake[]; show: (m: Mistake) => void }) {
  return (
    <div aria-live="polite">
      {of.length > 0 && (
        <>
          <h2>{plural(of.length, "mistake")}</h2>
          <ol class="mistakes">
            {of.map((m) => (
              <li>
                {m.line > 0 ? <button type="button" class="link" onClick={() => show(m)}>line {m.line}, column {m.column}</button> : <span>the file</span>}
                {m.path ? <> <code>{m.path}</code></> : null}: {m.message}
                {m.nearest ? <>. Did you mean <code>{m.nearest}</code>?</> : null}
                {!m.nearest && m.allowed?.length ? <span class="hint"> May stand here: {m.allowed.slice(0, 12).join(", ")}{m.allowed.length > 12 ? ", …" : ""}.</span> : null}
                {m.remedy ? <span class="hint"> {m.remedy}</span> : null}
              </li>
            ))}
          </ol>
        </>
      )}
    </div>
  );
}

function Planned({ draft, busy }: { draft: Draft; busy: boolean }) {
  return (
    <>
      <h2>What it would do</h2>
      <p class="hint" role="status">{[draft.trials ? plural(draft.trials, "trial") : "", draft.variants?.length ? plural(draft.variants.length, "variant") : "", busy ? "reading what changed …" : "no mistakes"].filter(Boolean).join(" · ")}</p>
      <pre class="plan" tabIndex={0} role="region" aria-label="The plan"><code>{draft.plan}</code></pre>
    </>
  );
}

interface StartOf {
  text: string;
  draft?: Draft;
  ready: boolean;
  version: Version | undefined;
  wrong: number;
}

function Start({ text, draft, ready, version, wrong }: StartOf) {
  const [busy, setBusy] = useState(false);
  const [trouble, setTrouble] = useState<Trouble>();
  const name = `${fileName(draft?.name || "experiment")}.yaml`;
  const start = async () => {
    setBusy(true);
    setTrouble(undefined);
    try {
      const l = await send<Live>("POST", "/api/runs", { experiment: text });
      go(`/live/${segment(l.id)}`);
    } catch (e) {
      setTrouble(asTrouble(e));
      setBusy(false);
    }
  };
  const keep = <button type="button" onClick={() => save(name, "application/yaml", text)}>Save the file</button>;
  if (version && !version.allow_run) {
    return (
      <div class="start">
        <h2>Run it</h2>
        <p>This server starts no experiments: whoever reaches it could run programs here. Save the file and run it yourself, or start the server with <code>--allow-run</code>.</p>
        <p class="actions">{keep}</p>
        <Code label="the command" text={`prony run ${name}`} />
      </div>
    );
  }
  return (
    <div class="start">
      <p class="actions">
        <button type="button" class="main" disabled={!ready || busy || !version} onClick={start}>{busy ? "Starting …" : "Start"}</button> {keep}
        <span class="hint">{wrong > 0 ? "It starts when there are no mistakes." : "It runs on the machine of this server, until it is done or you stop it."}</span>
      </p>
      {trouble && <Problem of={trouble}>{trouble.status === 409 && <p><Link to="/live">See what runs</Link></p>}</Problem>}
    </div>
  );
}

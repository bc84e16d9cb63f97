// Printed results of other tools, and what in them cannot be true; and bundles
// that come into the history.

import { useState } from "preact/hooks";
import { count, digits, figure, percent, plural, rate, time } from "../data/format";
import type { Finding } from "../data/types";
import { Badge, Mark, Pairs, Section } from "../ui/parts";
import { segment, send, upload, type Audit, type Audited, type Validity } from "./api";
import { Heading } from "./app";
import { asTrouble, Problem, useAct } from "./load";
import type { Trouble } from "./api";
import { Link } from "./router";

const MOST_TEXT = 7 << 20; // the server takes 8 MiB of JSON
const TOOLS = "wrk, wrk2, ab, Gatling, h2load, hey, vegeta, bombardier, oha, k6 or fortio";

export function AuditPage() {
  return (
    <>
      <Heading title="Audit and import" />
      <Printed />
      <Import />
    </>
  );
}

function Printed() {
  const [text, setText] = useState("");
  const [facts, setFacts] = useState("");
  const [claims, setClaims] = useState("");
  const [report, setReport] = useState<Audit>();
  const [trouble, setTrouble] = useState<Trouble>();
  const [busy, setBusy] = useState(false);
  const audit = async (e: Event) => {
    e.preventDefault();
    setBusy(true);
    setTrouble(undefined);
    try {
      setReport(await send<Audit>("POST", "/api/audit", { text, ...(facts.trim() ? { facts } : {}), ...(claimsIn(claims).length ? { claims: claimsIn(claims) } : {}) }));
      setTimeout(() => document.getElementById("audited")?.focus(), 0);
    } catch (e) {
      setReport(undefined);
      setTrouble(asTrouble(e));
    } finally {
      setBusy(false);
    }
  };
  const files = async (list: FileList | null) => {
    const all = [...(list ?? [])];
    if (all.reduce((n, f) => n + f.size, 0) > MOST_TEXT) {
      setTrouble(asTrouble(new Error("These files are longer than 7 MiB. prony audit FILE takes longer ones.")));
      return;
    }
    setTrouble(undefined);
    setText((await Promise.all(all.map((f) => f.text()))).join("\n\n"));
  };
  return (
    <Section id="audit" title="Audit a printed result" lead={`Paste the output of ${TOOLS}, with the command line if there is one. What arithmetic excludes is invalid; what has an innocent reading too is suspect.`}>
      <form onSubmit={audit}>
        <label class="field">
          <span>Output</span>
          <textarea class="mono" rows={12} value={text} onInput={(e) => setText(e.currentTarget.value)} spellcheck={false} wrap="off"
            onDragOver={(e) => e.preventDefault()}
            onDrop={(e) => { if (e.dataTransfer?.files.length) { e.preventDefault(); void files(e.dataTransfer.files); } }}
            placeholder={"$ wrk -t4 -c128 -d30s http://…\nRunning 30s test @ http://…"} />
        </label>
        <p class="actions">
          <button type="submit" class="main" disabled={busy || !text.trim()}>{busy ? "Looking …" : "Audit"}</button>
          <label class="file button">or choose files<input type="file" multiple onChange={(e) => { void files(e.currentTarget.files); e.currentTarget.value = ""; }} /></label>
        </p>
        <details>
          <summary>What is known beside the output</summary>
          <label class="field"><span>Facts, as YAML; <code>prony audit --help</code> names them</span>
            <textarea class="mono" rows={4} value={facts} onInput={(e) => setFacts(e.currentTarget.value)} spellcheck={false} placeholder={"all:\n  cores: 4\n  link: 1Gbit"} />
          </label>
          <label class="field"><span>Conclusions that were drawn, one a line</span>
            <textarea class="mono" rows={2} value={claims} onInput={(e) => setClaims(e.currentTarget.value)} spellcheck={false} placeholder="wrk-1 > wrk-2" />
          </label>
        </details>
      </form>
      {trouble && <Problem of={trouble} />}
      {report && <Outcome of={report} />}
    </Section>
  );
}

export const claimsIn = (text: string): string[] => text.split("\n").map((l) => l.trim()).filter(Boolean);

const MEANING: Record<string, string> = {
  valid: "Nothing in it contradicts itself.",
  suspect: "Something in it needs an explanation.",
  invalid: "Something in it cannot be true.",
};

function Outcome({ of }: { of: Audit }) {
  const results = of.results ?? [];
  return (
    <div id="audited" tabIndex={-1} role="region" aria-label="What the audit says">
      <div class={`verdict ${of.verdict}`} role="status">
        <p class="word"><Mark of={of.verdict} />{of.verdict}</p>
        <div><p>{MEANING[of.verdict] ?? ""} {plural(results.length, "result")} found.</p></div>
      </div>
      {results.map((r) => <One r={r} many={results.length > 1} />)}
      {(of.pairs ?? []).map((p) => (
        <article>
          <h3>{p.b} against {p.a}{typeof p.rate_ratio === "number" ? `: ${digits(p.rate_ratio)} times the rate` : ""}</h3>
          <Reasons of={p.validity} />
        </article>
      ))}
      {(of.claims ?? []).map((c) => (
        <article>
          <h3>“{c.text}” <span class={`tone ${c.holds ? "good" : "bad"}`}>{c.holds ? "holds" : "does not hold"}</span></h3>
          <Reasons of={c.validity} />
        </article>
      ))}
      {(of.remarks ?? []).length > 0 && <article><h3>About all results</h3><List all={of.remarks ?? []} /></article>}
    </div>
  );
}

function One({ r, many }: { r: Audited; many: boolean }) {
  const p = (share: number) => r.latency?.percentiles?.find((x) => Math.abs(x.p - share) < 1e-9)?.value_us;
  const errors = r.errors ? Object.entries(r.errors).map(([k, n]) => `${k} ${count(n)}`).join(", ") || "none" : "not printed";
  const known = (v: unknown): v is number => typeof v === "number";
  return (
    <article>
      <h3><Badge of={r.validity.verdict} /> {r.label || (many ? r.id : r.tool)}{r.label || many ? <span class="hint"> {r.tool}{r.first_line ? `, lines ${r.first_line} to ${r.last_line}` : ""}</span> : null}</h3>
      <Pairs
        of={[
          ["Requests/s", known(r.rate) ? rate(r.rate) : "not printed"],
          ["Requests", known(r.requests) ? count(r.requests) : ""],
          ["Connections", known(r.connections) ? count(r.connections) : "unknown"],
          ["Took", known(r.duration_printed_us) ? time(r.duration_printed_us) : known(r.duration_stated_us) ? time(r.duration_stated_us) : ""],
          ["Mean", known(r.latency?.mean) ? time(r.latency.mean) : ""],
          ["p50", known(p(0.5)) ? time(p(0.5)) : ""],
          ["p99", known(p(0.99)) ? time(p(0.99)) : ""],
          ["Max", known(r.latency?.max) ? time(r.latency.max) : ""],
          ["Errors", errors],
          ["Command", r.command ? <code>{r.command}</code> : ""],
        ]}
      />
      {(r.odd ?? []).length > 0 && <ul class="plain">{r.odd!.map((o) => <li>{o}</li>)}</ul>}
      <Reasons of={r.validity} />
    </article>
  );
}

function Reasons({ of }: { of: Validity }) {
  const missing = of.not_run ?? [];
  return (
    <>
      <List all={of.findings ?? []} />
      {(of.findings ?? []).length === 0 && <p>No rule found anything to hold against it.</p>}
      {missing.length > 0 && (
        <details><summary>{plural(missing.length, "rule")} could not be checked, for want of a figure</summary><ul class="plain">{missing.map((m) => <li>{m}</li>)}</ul></details>
      )}
    </>
  );
}

function List({ all }: { all: Finding[] }) {
  return (
    <ul class="findings">
      {all.map((f) => (
        <li>
          <p class="what"><Badge of={f.severity} /> <span>{f.message}</span></p>
          {f.advice && <p class="advice">{f.advice}</p>}
          <p class="hint">{[f.id, f.rule].filter(Boolean).join(" ")}{Object.entries(f.evidence ?? {}).map(([k, v]) => ` · ${k.replaceAll("_", " ")} ${k.includes("share") ? percent(v) : figure(k, v)}`)}</p>
        </li>
      ))}
    </ul>
  );
}

/** A bundle, or results as JSON, into the history. */
function Import() {
  const { act, busy, said } = useAct();
  const [kept, setKept] = useState<string[]>([]);
  const [over, setOver] = useState(false);
  const take = (list: FileList | null | undefined) => {
    const files = [...(list ?? [])];
    if (files.length === 0) return;
    setKept([]);
    void act(async () => {
      const ids: string[] = [];
      for (const f of files) {
        try {
          ids.push(...(await upload<{ runs: string[] }>("/api/import", f)).runs);
        } catch (e) {
          if (e instanceof Error) e.message = `${f.name}: ${e.message}`;
          throw e;
        } finally {
          setKept([...new Set(ids)]);
        }
      }
      return `${plural(new Set(ids).size, "run")} in the history now.`;
    });
  };
  return (
    <Section id="import" title="Import results" lead="A .prony bundle, or what prony load --json or prony run --json wrote. What is there already is not taken twice.">
      <div class={over ? "drop over" : "drop"} onDragOver={(e) => { e.preventDefault(); setOver(true); }} onDragLeave={() => setOver(false)} onDrop={(e) => { e.preventDefault(); setOver(false); take(e.dataTransfer?.files); }}>
        <label class="file button">{busy ? "Reading …" : "Choose files"}<input type="file" multiple disabled={busy} accept=".prony,.json,application/json" onChange={(e) => { take(e.currentTarget.files); e.currentTarget.value = ""; }} /></label>
        <span class="hint"> or drop them here</span>
      </div>
      {said}
      {kept.length > 0 && (
        <ul class="plain">
          {kept.slice(0, 20).map((id) => <li><Link to={`/runs/${segment(id)}`}>{id}</Link></li>)}
          {kept.length > 20 && <li>and {count(kept.length - 20)} more: <Link to="/">all runs</Link></li>}
        </ul>
      )}
    </Section>
  );
}

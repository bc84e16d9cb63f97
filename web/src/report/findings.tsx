// What the rules found, gravest first, each with its figures, the limits that
// were applied, and what to do.

import { causes, seenIn, type Cause } from "../data/answer";
import { figure } from "../data/format";
import type { Shown } from "../data/model";
import type { Finding } from "../data/types";
import { Badge, Section } from "../ui/parts";

export function Findings({ shown }: { shown: Shown }) {
  const all = causes(shown.trials, shown.experiment?.findings ?? []);
  const open = all.filter((r) => r.finding.severity !== "info");
  const info = all.filter((r) => r.finding.severity === "info");
  const notRun = [...new Set(shown.trials.flatMap((t) => t.validity?.not_run ?? []))];
  const warnings = [...new Set(shown.trials.flatMap((t) => t.warnings ?? []))];
  return (
    <Section id="findings" title="Findings" lead="Rules that looked at this result. Only “suspect” and “invalid” change the verdict.">
      {open.length === 0 && <p>No rule found anything to hold against the result.</p>}
      <ul class="findings">{open.map((r) => <One r={r} shown={shown} />)}</ul>
      {info.length > 0 && (
        <details>
          <summary>{info.length} more that found nothing wrong</summary>
          <ul class="findings">{info.map((r) => <One r={r} shown={shown} />)}</ul>
        </details>
      )}
      {notRun.length > 0 && <Listed title="Not judged, for want of a figure" items={notRun} />}
      {warnings.length > 0 && <Listed title="Warnings" items={warnings} />}
    </Section>
  );
}

function Listed({ title, items }: { title: string; items: string[] }) {
  return (
    <div class="listed">
      <h3>{title}</h3>
      <ul>{items.map((t) => <li>{t}</li>)}</ul>
    </div>
  );
}

function One({ r, shown }: { r: Cause; shown: Shown }) {
  const f = r.finding;
  return (
    <li>
      <p class="what"><Badge of={f.severity} /> <span>{f.message}</span></p>
      {f.advice && f.severity !== "info" && <p class="advice">{f.advice}</p>}
      <p class="hint">
        <Rule f={f} docs={shown.doc.docs} />
        {f.where ? ` · about ${f.where}` : ""}
        {f.confidence ? ` · ${f.confidence}` : ""}
        {shown.trials.length > 1 && r.trials.length > 0 ? ` · ${inTrials(shown, r)}` : ""}
      </p>
      <Evidence f={f} />
    </li>
  );
}

const inTrials = (shown: Shown, r: Cause) => `${seenIn(shown, r.trials)}${r.trials.length > 1 ? `; the figures are of trial ${r.of}, the worst` : ""}`;

/** The name of the rule, as a link where the page knows where the docs are. */
function Rule({ f, docs }: { f: Finding; docs?: string }) {
  const name = `${f.id ? `${f.id} ` : ""}${f.rule}`;
  const slug = /^[a-z0-9-]+$/.test(f.rule) ? f.rule : "";
  if (docs && /^https?:\/\//.test(docs) && slug) {
    return <a href={`${docs.replace(/\/$/, "")}/${slug}.md`} rel="noreferrer noopener">{name}: what it means</a>;
  }
  return <span>{name}{slug ? `, explained in docs/findings/${slug}.md` : ""}</span>;
}

function Evidence({ f }: { f: Finding }) {
  const evidence = Object.entries(f.evidence ?? {});
  const limits = Object.entries(f.threshold ?? {});
  if (evidence.length === 0 && limits.length === 0) return null;
  return (
    <details class="evidence">
      <summary>Figures and limits<span class="unseen"> of {f.rule}</span></summary>
      <dl>
        {evidence.map(([k, v]) => <div><dt>{k.replaceAll("_", " ")}</dt><dd>{figure(k, v)}</dd></div>)}
        {limits.map(([k, v]) => <div class="limit"><dt>limit: {k.replaceAll("_", " ")}</dt><dd>{figure(k, v)}</dd></div>)}
      </dl>
    </details>
  );
}

// How to repeat it, what would make it more trustworthy, and the raw data.

import { raw } from "../data/load";
import { count, size } from "../data/format";
import { planOf, type Shown } from "../data/model";
import type { Trial } from "../data/types";
import { Code, Section } from "../ui/parts";
import { fileName, save } from "../ui/save";

export function Again({ shown, trial }: { shown: Shown; trial: Trial }) {
  const d = shown.doc;
  const command = d.command || quoted(trial.command ?? []);
  const plan = shown.experiment ? { ...shown.experiment.plan, trials: undefined } : planOf(shown, trial);
  return (
    <Section id="again" title="Repeat it">
      {command && <Code label="the command" text={command} />}
      {d.source?.text && (
        <>
          <h3>{d.source.name || "The experiment file"}</h3>
          <Code label={d.source.name || "the experiment file"} text={d.source.text} />
        </>
      )}
      <details>
        <summary>The plan, with every default written out</summary>
        <pre tabIndex={0} role="region" aria-label="The plan"><code>{JSON.stringify(plan, null, 2)}</code></pre>
      </details>
    </Section>
  );
}

/** Words as a shell takes them. */
export const quoted = (words: string[]): string => words.map((w) => (/^[\w@%+=:,./-]+$/.test(w) ? w : `'${w.replaceAll("'", `'\\''`)}'`)).join(" ");

export function Advice({ shown }: { shown: Shown }) {
  const all = shown.doc.advice ?? [];
  if (all.length === 0) return null;
  return (
    <Section id="advice" title="What would make this number more trustworthy">
      <ul class="plain">{all.map((t) => <li>{t}</li>)}</ul>
    </Section>
  );
}

export function Goals({ shown }: { shown: Shown }) {
  const own = shown.doc.goals ?? [];
  const of = shown.trials.flatMap((t) => (t.expect ?? []).map((e) => ({ e, n: t.number })));
  const texts = [...new Set(of.map((x) => x.e.text))];
  const rows = texts.map((text) => {
    const all = of.filter((x) => x.e.text === text);
    const missed = all.filter((x) => !x.e.met);
    const where = shown.experiment && missed.length ? ` in ${missed.length} of ${all.length} trials (${missed.slice(0, 10).map((x) => x.n).join(", ")}${missed.length > 10 ? ", …" : ""})` : "";
    return { text, met: missed.length === 0, reason: [missed[0]?.e.reason ?? "", where].join("") };
  });
  const all = [...own.map((e) => ({ text: e.text, met: e.met, reason: e.reason ?? "" })), ...rows];
  if (all.length === 0) return null;
  return (
    <Section id="goals" title="What was expected">
      <ul class="goals">
        {all.map((g) => (
          <li class={g.met ? "met" : "missed"}>
            <strong>{g.met ? "met" : "not met"}</strong> <code>{g.text}</code> {g.reason}
          </li>
        ))}
      </ul>
    </Section>
  );
}

export function Data({ shown }: { shown: Shown }) {
  const text = raw() || JSON.stringify(shown.doc);
  const name = fileName(shown.experiment?.plan.name || shown.trials[0]?.plan?.name || "prony");
  const left = shown.doc.left_out ?? [];
  return (
    <Section id="data" title="The data" lead={shown.doc.served ? "What is kept of it." : "This page holds all it shows, and asks nothing of any server."}>
      <p>
        <button type="button" onClick={() => save(`${name}.json`, "application/json", text)}>Save the data as JSON</button>{" "}
        <span class="hint">{size(text.length)}, {count(shown.trials.length)} {shown.trials.length === 1 ? "trial" : "trials"}; every chart has its own CSV under “The numbers”.</span>
      </p>
      {left.length > 0 && (
        <div class="hint">
          <p>Left out to keep {shown.doc.served ? "this page" : "this file"} small; the stored results have all of it:</p>
          <ul>{left.map((t) => <li>{t}</li>)}</ul>
        </div>
      )}
    </Section>
  );
}

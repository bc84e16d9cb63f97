// The first screen: what was tested, can it be trusted, the number, what limits
// it, compared with what.

import { causes, doubts, grave, seenIn, type Cause } from "../data/answer";
import { count, date, plural, rate, time } from "../data/format";
import { axes, fitLines, model, planOf, ran, target, unstable, type Shown } from "../data/model";
import type { Trial, Verdict } from "../data/types";
import { Mark } from "../ui/parts";
import { Baseline, chosen, Headline, Latencies } from "./headline";
import { Limiter } from "./limit";
import { Term } from "./words";

const MEANING: Record<Verdict, string> = {
  valid: "Nothing speaks against this number.",
  suspect: "Usable with care.",
  invalid: "Do not use this number.",
};

export function Answer({ shown }: { shown: Shown }) {
  return (
    <header class="answer">
      <Title shown={shown} />
      <VerdictBand shown={shown} />
      {shown.experiment ? <ExperimentAnswer shown={shown} /> : <RunAnswer shown={shown} trial={shown.trials[0]!} />}
      <Reasons shown={shown} />
    </header>
  );
}

function Title({ shown }: { shown: Shown }) {
  const t = shown.trials.find(ran) ?? shown.trials[0];
  const e = shown.experiment?.plan;
  const plan = t && planOf(shown, t);
  const what = target(plan);
  const heading = e?.question || e?.name || plan?.name || what || "A load";
  return (
    <div class="title">
      <h1>{heading}</h1>
      {what && what !== heading && <p class="what"><span class="unseen">Tested: </span><code>{what}</code></p>}
      <p>{[e?.question ? e.name : "", date(t?.started), t?.version ? `Prony ${t.version}` : ""].filter(Boolean).join(" · ")}</p>
    </div>
  );
}

const MOST_REASONS = 3;

function gravest(shown: Shown): Cause[] {
  const { best, base } = chosen(shown);
  return shown.experiment ? doubts(shown, [best, base]) : causes(shown.trials).filter((c) => grave(c.finding));
}

function VerdictBand({ shown }: { shown: Shown }) {
  return (
    <div class={`verdict ${shown.verdict}`} role="status">
      <p class="word"><Mark of={shown.verdict} /><Term of={shown.verdict} /></p>
      <p>
        {MEANING[shown.verdict]} {shown.experiment && [counted(shown), out(shown.trials)].filter(Boolean).join(" ")}
        {gravest(shown).length > 0 && <> <a class="why" href="#reasons">{plural(gravest(shown).length, "reason")}</a></>}
      </p>
    </div>
  );
}

/** How many of the trials behind the number are suspect, and are in it all the same. */
function counted(shown: Shown): string {
  const used = chosen(shown).best?.used ?? [];
  const soft = used.filter((t) => t.validity.verdict === "suspect").length;
  return soft > 0 ? `${count(soft)} of the ${plural(used.length, "trial")} behind the number ${soft === 1 ? "is suspect and counts" : "are suspect and count"}.` : "";
}

/** How many trials were left out. */
function out(trials: Trial[]): string {
  const failed = trials.filter((t) => t.error).length;
  const invalid = trials.filter((t) => !t.error && t.validity.verdict === "invalid").length;
  const said = [invalid > 0 ? `${count(invalid)} invalid` : "", failed > 0 ? `${count(failed)} without a result` : ""].filter(Boolean).join(", ");
  return said && `Of ${plural(trials.length, "trial")}: ${said}, and in no figure.`;
}

/** Each cause of doubt in a line, those of the number above first. Beside the
 * verdict where there is room, behind the answer on a phone. */
function Reasons({ shown }: { shown: Shown }) {
  const all = gravest(shown);
  if (all.length === 0) return null;
  const first = all.slice(0, all.length === MOST_REASONS + 1 ? MOST_REASONS + 1 : MOST_REASONS);
  return (
    <ul id="reasons" class={`reasons ${shown.verdict}`} aria-label={`Why ${shown.verdict}`}>
      {first.map((c) => <li>{line(shown, c)}</li>)}
      {all.length > first.length && <li><a href="#findings">{all.length - first.length} more reasons</a></li>}
    </ul>
  );
}

function line(shown: Shown, c: Cause): string {
  const where = seenIn(shown, c.trials);
  return `${c.finding.message}${where ? `${c.trials.length > 1 ? ", at worst" : ""}: ${where}` : ""}`;
}

function RunAnswer({ shown, trial }: { shown: Shown; trial: Trial }) {
  const l = trial.load;
  const plan = planOf(shown, trial);
  const r = l.latency.response;
  return (
    <div class="facts">
      <div class="headline">
        <p class="big">{rate(l.rate)} <span>requests/s</span></p>
        <p class="around">over {time(l.duration_us)}, one <Term of="trial" />: no interval. {l.offered_rate ? `Asked for ${rate(l.offered_rate)} requests/s.` : ""}</p>
        {unstable(trial) ? (
          <p class="around"><strong>Unstable at this rate:</strong> the queue grew, so that no percentile would mean anything.</p>
        ) : (
          <Latencies items={[["p50", r?.p50_us], ["p99", r?.p99_us], ["max", r?.max_us]]} errors={l.requests.failed / Math.max(1, l.requests.asked)} />
        )}
      </div>
      <Limiter trial={trial} />
      <Tested of={[["What was tested", target(plan) || "unknown"], ["Load", <Load trial={trial} />], ["Compared with", "nothing: one trial says nothing about others. For that an experiment repeats trials beside a baseline."], ...scaled(shown)]} />
    </div>
  );
}

function Load({ trial }: { trial: Trial }) {
  const open = trial.load.model === "open";
  const text = model(trial.load);
  return <><Term of={open ? "open model" : "closed model"} />{text.slice(text.indexOf(","))}</>;
}

function Tested({ of }: { of: [string, preact.ComponentChildren][] }) {
  return (
    <dl class="tested">
      {of.map(([k, v]) => (
        <div><dt>{k}</dt><dd>{v}</dd></div>
      ))}
    </dl>
  );
}

/** What was made smaller for the machine, if the file asked for that. */
function scaled(shown: Shown): [string, preact.ComponentChildren][] {
  const lines = fitLines(shown);
  return lines.length > 0 ? [["Scaled to the machine", <ul class="plain">{lines.map((t) => <li>{t}</li>)}</ul>]] : [];
}

function ExperimentAnswer({ shown }: { shown: Shown }) {
  const { best, base, rows } = chosen(shown);
  const t = best?.typical;
  if (!best || !t || !base) return <div class="facts"><div class="headline"><p class="big">No result</p><p class="around">No trial gave a number that can be used.</p></div></div>;
  const varied = axes(shown).map((a) => `${a.name} (${a.values.slice(0, 8).join(", ")}${a.values.length > 8 ? ", …" : ""})`).join("; ");
  const repeats = Math.max(...shown.rows.map((r) => r.trials.length));
  return (
    <div class="facts wide">
      <Headline shown={shown} best={best} base={base} />
      <Limiter trial={t} row={best} />
      <Tested
        of={[
          ["Load", <><Load trial={t} />; {time(t.load.duration_us)} each</>],
          ["Varied", varied || "nothing"],
          ["Compared with", rows.length > 1 ? <Baseline base={base} repeats={repeats} order={shown.experiment?.plan.order ?? "shuffled"} /> : "nothing: there is one variant"],
          ...scaled(shown),
        ]}
      />
    </div>
  );
}

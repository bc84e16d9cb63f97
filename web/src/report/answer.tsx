// The first screen: can it be trusted, the number, what limits it, what was
// tested, compared with what.

import { by, count, date, digits, percent, plural, rate, time } from "../data/format";
import { axes, fitLines, model, planOf, ran, target, unstable, type Row, type Shown } from "../data/model";
import type { Spread } from "../data/stats";
import type { Comparison, Finding, Trial, Verdict } from "../data/types";
import { Badge, Mark } from "../ui/parts";

const MEANING: Record<Verdict, string> = {
  valid: "Nothing speaks against this number.",
  suspect: "Usable with care, for these reasons.",
  invalid: "Do not use this number, for these reasons.",
};

export function Answer({ shown }: { shown: Shown }) {
  return (
    <header class="answer">
      <Title shown={shown} />
      <VerdictBand shown={shown} />
      {shown.experiment ? <ExperimentAnswer shown={shown} /> : <RunAnswer shown={shown} trial={shown.trials[0]!} />}
    </header>
  );
}

function Title({ shown }: { shown: Shown }) {
  const t = shown.trials.find(ran) ?? shown.trials[0];
  const e = shown.experiment?.plan;
  const plan = t && planOf(shown, t);
  const heading = e?.question || e?.name || plan?.name || target(plan) || "A load";
  return (
    <div class="title">
      <h1>{heading}</h1>
      <p>{[e?.question ? e.name : "", date(t?.started), t?.version ? `Prony ${t.version}` : ""].filter(Boolean).join(" · ")}</p>
    </div>
  );
}

/** The gravest reasons, each once, with how many trials it holds for. */
export function reasons(trials: Trial[], more: Finding[] = []): { finding: Finding; trials: number[] }[] {
  const seen = new Map<string, { finding: Finding; trials: number[] }>();
  const order = { invalid: 0, suspect: 1, note: 2, info: 3 };
  const add = (f: Finding, n?: number) => {
    const key = `${f.severity} ${f.rule} ${n === undefined ? f.message : ""}`;
    const known = seen.get(key) ?? { finding: f, trials: [] };
    if (n !== undefined) known.trials.push(n);
    seen.set(key, known);
  };
  more.forEach((f) => add(f));
  for (const t of trials) for (const f of t.validity?.findings ?? []) add(f, t.number);
  return [...seen.values()].sort((a, b) => (order[a.finding.severity] ?? 1) - (order[b.finding.severity] ?? 1));
}

function VerdictBand({ shown }: { shown: Shown }) {
  const grave = reasons(shown.trials, shown.experiment?.findings ?? []).filter((r) => r.finding.severity === "invalid" || r.finding.severity === "suspect");
  const failed = shown.trials.filter((t) => t.error).length;
  const first = grave.slice(0, 3);
  return (
    <div class={`verdict ${shown.verdict}`} role="status">
      <p class="word"><Mark of={shown.verdict} />{shown.verdict}</p>
      <div>
        <p>{MEANING[shown.verdict]}</p>
        {(first.length > 0 || failed > 0) && (
          <ul>
            {failed > 0 && <li>{plural(failed, "trial")} of {count(shown.trials.length)} could not be carried out</li>}
            {first.map((r) => <li>{r.finding.message}{scope(r.trials, shown.trials.length)}</li>)}
            {grave.length > first.length && <li><a href="#findings">{grave.length - first.length} more</a></li>}
          </ul>
        )}
      </div>
    </div>
  );
}

/** How many trials a reason holds for; the figures in it are of the first. */
function scope(trials: number[], of: number): string {
  if (of < 2 || trials.length === 0) return "";
  if (trials.length === 1) return ` (trial ${trials[0]})`;
  return ` (trial ${trials[0]}; ${trials.length === of ? `the same in all ${of}` : `the same in ${trials.length} of ${of}`})`;
}

function RunAnswer({ shown, trial }: { shown: Shown; trial: Trial }) {
  const l = trial.load;
  const plan = planOf(shown, trial);
  const r = l.latency.response;
  return (
    <div class="facts">
      <div class="headline">
        <p class="big">{rate(l.rate)} <span>requests a second</span></p>
        <p class="around">over {time(l.duration_us)}, one run: no interval. {l.offered_rate ? `Asked for ${rate(l.offered_rate)} a second.` : ""}</p>
        {unstable(trial) ? (
          <p class="around"><strong>Unstable at this rate:</strong> the queue grew, so that no percentile would mean anything.</p>
        ) : (
          <Latencies items={[["p50", r?.p50_us], ["p99", r?.p99_us], ["max", r?.max_us]]} errors={l.requests.failed / Math.max(1, l.requests.asked)} />
        )}
      </div>
      <Limiter trial={trial} />
      <Tested of={[["What was tested", target(plan) || "unknown"], ["How", model(l)], ["Compared with", "nothing: one run says nothing about others. Repeats and a baseline need an experiment."], ...scaled(shown)]} />
    </div>
  );
}

function Latencies({ items, errors }: { items: [string, number | undefined][]; errors: number }) {
  return (
    <dl class="latencies">
      {items.map(([k, v]) => (
        <div><dt>{k}</dt><dd>{time(v)}</dd></div>
      ))}
      <div><dt>errors</dt><dd>{percent(errors)}</dd></div>
    </dl>
  );
}

export function Limiter({ trial, prefix }: { trial: Trial | undefined; prefix?: string }) {
  const b = trial?.bottleneck;
  return (
    <div class="limiter-text">
      <h2>Why not double?</h2>
      <p>{prefix && <strong>{prefix}: </strong>}{b ? b.message : "The limit was not identified."}{b?.confidence ? ` (${b.confidence})` : ""}</p>
      {b?.exonerated?.length ? <p class="hint">Looked at, and not the limit: {b.exonerated.join(", ")}.</p> : null}
    </div>
  );
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
  const rows = shown.rows.filter((r) => r.rate.n > 0);
  const best = rows.reduce<Row | undefined>((b, r) => (!b || r.rate.median > b.rate.median ? r : b), undefined);
  const base = shown.baseline?.rate.n ? shown.baseline : rows[0];
  const t = best?.typical;
  if (!best || !t || !base) return <div class="facts"><div class="headline"><p class="big">No result</p><p class="around">No trial gave a number that can be used.</p></div></div>;
  const varied = axes(shown).map((a) => `${a.name} (${a.values.slice(0, 8).join(", ")}${a.values.length > 8 ? ", …" : ""})`).join("; ");
  const repeats = Math.max(...shown.rows.map((r) => r.trials.length));
  return (
    <div class="facts">
      <div class="headline">
        <p class="big">{by(best.rate.median, half(best.rate))} <span>requests a second</span></p>
        <p class="around">at best, with <strong>{best.variant.name}</strong>: {between(best.rate)}</p>
        <p class="sentence">{sentence(best, base, shown.doc.comparisons ?? [])}</p>
        <Latencies items={[["p50", best.p50.median], ["p99", best.p99.median]]} errors={best.errors} />
      </div>
      <Limiter trial={t} prefix={best.variant.name} />
      <Tested
        of={[
          ["What was tested", target(planOf(shown, t)) || "unknown"],
          ["How", `${model(t.load)}; ${time(t.load.duration_us)} each`],
          ["Varied", varied || "nothing"],
          ["Compared with", rows.length > 1 ? <>the baseline <strong>{base.variant.name}</strong>, {plural(repeats, "repeat")} each in {shown.experiment?.plan.order ?? "shuffled"} blocks</> : "nothing: there is one variant"],
          ...scaled(shown),
        ]}
      />
    </div>
  );
}

export const half = (s: Spread): number => (s.n > 1 ? (s.high - s.low) / 2 : 0);

/** The interval of a median, or the range where there are too few runs for one. */
export function between(s: Spread, show: (v: number, half: number) => string = by): string {
  if (s.n === 0) return "no run";
  if (s.n === 1) return "one run, no interval";
  const text = `${show(s.low, half(s))} to ${show(s.high, half(s))}`;
  return s.coverage ? `median of ${s.n} runs, ${digits(s.coverage * 100)} % interval ${text}` : `median of ${s.n} runs, range ${text}; six runs give an interval`;
}

/** The answer in words. Without a test it claims only what the intervals show. */
function sentence(best: Row, base: Row, comparisons: Comparison[]): preact.ComponentChildren {
  if (best === base) return <>No variant did better than the baseline <strong>{base.variant.name}</strong>.</>;
  const c = comparisons.find((x) => x.variant === best.variant.name && x.metric === "rate");
  const times = <><strong>{digits(c?.ratio ?? best.rate.median / base.rate.median)} times</strong> the baseline {base.variant.name}</>;
  if (c) return <>{times}{c.low && c.high ? ` (${digits(c.low)} to ${digits(c.high)})` : ""}: {c.verdict}.</>;
  if (best.rate.n < 2 || base.rate.n < 2) return <>{times}, from one run each: it could be chance.</>;
  if (best.rate.low <= base.rate.high) return <>{times}, but the ranges overlap: these repeats cannot tell.</>;
  return <>{times}; the {best.rate.coverage && base.rate.coverage ? "intervals" : "ranges"} do not overlap.</>;
}

export { Badge };

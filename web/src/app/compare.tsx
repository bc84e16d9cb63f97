// Any two or more runs, or the variants of an experiment, against the first.

import { useMemo, useState } from "preact/hooks";
import { Forest } from "../charts/forest";
import { XY, type Series } from "../charts/xy";
import { within } from "../data/load";
import { doubts } from "../data/answer";
import { derive, ran, unstable } from "../data/model";
import { date, digits, percent, plural, time } from "../data/format";
import type { Trial } from "../data/types";
import { MOST_CURVES, Overlaid, quantileName } from "../report/latency";
import { Badge, Figure, Legend, Section, Table } from "../ui/parts";
import { seriesColour } from "../ui/theme";
import { get, query, segment, text, type Row, type Whole } from "./api";
import { Heading } from "./app";
import { because, effect, foremost, interval, oneIn, ratios, remarks, value, type Metric, type Pair, type Result } from "./comparison";
import { Shown, useAsk } from "./load";
import { titleOf } from "./pick";
import { go, Link } from "./router";

export function ComparePage({ q }: { q: URLSearchParams }) {
  const sides = q.getAll("side");
  const campaign = q.get("campaign") ?? "";
  const options = { repeats: q.get("repeats") ?? "", accept_differences: q.get("accept_differences") ?? "" };
  const to = (more: Record<string, string | string[]>) => go(query("/compare", { side: sides, campaign, ...options, ...more }));
  if (sides.length === 0 && !campaign) return <Choose />;
  return (
    <>
      {!campaign && <Heading title="Runs compared" />}
      {!campaign && <Options sides={sides} campaign={campaign} options={options} to={to} />}
      {campaign ? <><OfCampaign id={campaign} options={options} /><details class="more-options"><summary>Options</summary><Options sides={sides} campaign={campaign} options={options} to={to} /></details></> : sides.length < 2 ? <p class="empty">One more side is needed: add one above, or choose runs in <Link to="/">the list</Link>.</p> : <OfSides key={sides.join("&")} sides={sides} options={options} />}
    </>
  );
}

function Choose() {
  const newest = useAsk("newest", (s) => get<{ runs: Row[] }>("/api/runs?limit=200", s));
  const campaigns = [...new Map((newest.data?.runs ?? []).filter((r) => r.campaign).map((r) => [r.campaign!, r])).values()].slice(0, 12);
  return (
    <>
      <Heading title="Compare" />
      <p class="lead">Tick two or more runs in <Link to="/">the list</Link> and press Compare: runs of one variant make one side. Or take an experiment, whose variants are compared with its baseline.</p>
      <AddSide add={(id) => go(query("/compare", { side: [id] }))} label="First run" />
      <Shown of={newest} what="experiments">
        {() => (
          <Section id="campaigns" title="Experiments, newest first">
            {campaigns.length === 0 && <p>No experiment is kept yet. <Link to="/new">Write one</Link></p>}
            <ul class="cards">{campaigns.map((r) => <li><p><Link to={query("/compare", { campaign: r.campaign })}>{r.experiment || r.campaign}</Link></p><p class="hint">{r.campaign}</p></li>)}</ul>
          </Section>
        )}
      </Shown>
    </>
  );
}

function AddSide({ add, label }: { add: (id: string) => void; label: string }) {
  const [id, set] = useState("");
  const submit = (e: Event) => {
    e.preventDefault();
    if (id.trim()) add(id.trim().replace(/\s+/g, ","));
    set("");
  };
  return (
    <form class="filters" onSubmit={submit}>
      <label class="field"><span>{label}</span><input type="text" value={id} placeholder="id, name or last" onInput={(e) => set(e.currentTarget.value)} /></label>
      <button type="submit">Add</button>
    </form>
  );
}

interface OptionsOf {
  sides: string[];
  campaign: string;
  options: { repeats: string; accept_differences: string };
  to: (more: Record<string, string | string[]>) => void;
}

function Options({ sides, campaign, options, to }: OptionsOf) {
  const flag = (name: "repeats" | "accept_differences", label: string) => (
    <label class="check"><input type="checkbox" checked={options[name] === "true"} onChange={(e) => to({ [name]: e.currentTarget.checked ? "true" : "" })} /> {label}</label>
  );
  return (
    <div class="options">
      {!campaign && (
        <>
          <ul class="tags" aria-label="Sides">
            {sides.map((s, i) => (
              <li>
                <span class="side" style={{ borderColor: `var(${seriesColour(i)})` }}>{i === 0 ? "baseline " : ""}{letter(i)}: {many(s)}</span>
                {i > 0 && <button type="button" class="quiet" onClick={() => to({ side: [s, ...sides.filter((_, k) => k !== i)] })}>make it the baseline<span class="unseen">: {letter(i)}</span></button>}
                <button type="button" class="quiet" aria-label={`Take side ${letter(i)} away`} onClick={() => to({ side: sides.filter((_, k) => k !== i) })}>×</button>
              </li>
            ))}
          </ul>
          <AddSide add={(id) => to({ side: [...sides, id] })} label="One more side" />
          {flag("repeats", "each run stands for all repeats of its experiment and variant")}
        </>
      )}
      {flag("accept_differences", "give verdicts even if machines or loads differ")}
    </div>
  );
}

const letter = (i: number): string => String.fromCharCode(65 + (i % 26));
const many = (side: string): string => {
  const ids = side.split(",");
  return ids.length === 1 ? ids[0]! : `${ids.length} runs (${ids[0]}, …)`;
};

interface Group {
  name: string;
  trials: Trial[];
}

function OfSides({ sides, options }: { sides: string[]; options: OptionsOf["options"] }) {
  const path = query("/api/compare", { side: sides, ...options });
  const result = useAsk(path, (s) => get<Result>(path, s));
  const runs = useAsk(sides.join("&"), (s) => Promise.all(sides.map((side) => Promise.all(side.split(",").slice(0, 12).map((id) => get<Whole>(`/api/runs/${segment(id)}`, s))))));
  const names = useMemo(() => namesOf(sides, runs.data), [runs.data]);
  const groups = useMemo(() => (runs.data ?? []).map((all, i) => ({ name: names.get(sides[i]!)!, trials: all.map((w) => w.result).filter((t) => ran(t) && !unstable(t)) })), [runs.data]);
  return (
    <>
      {runs.data && <Who groups={runs.data} />}
      <Shown of={result} what="the comparison">{(r) => <Outcome r={r} name={(s) => names.get(s) ?? many(s)} />}</Shown>
      <Shown of={runs} what="the runs">{() => <Curves groups={groups} />}</Shown>
    </>
  );
}

/** Names of sides: what differs between them; with a letter, since names may be
 * the same. */
export function namesOf(sides: string[], runs: Whole[][] | undefined): Map<string, string> {
  return new Map(sides.map((s, i) => {
    const first = runs?.[i]?.[0]?.run;
    return [s, `${letter(i)}: ${first ? (first.name || first.variant || titleOf(first)) : many(s)}`];
  }));
}

function Who({ groups }: { groups: Whole[][] }) {
  const rows = groups.map((all, i) => {
    const r = all[0]!.run;
    return [letter(i), <><Link to={`/runs/${segment(r.id)}`}>{titleOf(r)}</Link>{all.length > 1 ? ` and ${all.length - 1} more` : ""}</>, <Badge of={r.verdict || "suspect"} />, plural(all.length, "run"), r.target, r.started.slice(0, 16).replace("T", " ")];
  });
  return <Table caption="What is compared" columns={["side", "run", "verdict", "runs", "target", "started"]} rows={rows} />;
}

function OfCampaign({ id, options }: { id: string; options: OptionsOf["options"] }) {
  const path = query("/api/compare", { campaign: id, accept_differences: options.accept_differences });
  const result = useAsk(path, (s) => get<Result>(path, s));
  const report = useAsk(`campaign ${id}`, (s) => text(`/report/campaigns/${segment(id)}`, s).then(within));
  const shown = useMemo(() => report.data && derive(report.data), [report.data]);
  const groups = useMemo(() => (shown?.rows ?? []).map((r) => ({ name: r.variant.name, trials: r.used.filter((t) => ran(t) && !unstable(t)) })), [shown]);
  return (
    <>
      <div class="page-head">
        <Heading title={shown?.experiment?.plan.name ? `Variants of ${shown.experiment.plan.name} compared` : "Variants compared"} />
        <p class="actions"><Link to={`/campaigns/${segment(id)}`} class="button">The whole report</Link></p>
      </div>
      {shown && <p class="lead">{about(shown)}</p>}
      {shown && shown.verdict !== "valid" && <p class="warning">The trials are {shown.verdict === "suspect" ? "suspect" : "partly invalid"}: {doubts(shown, []).slice(0, 2).map((c) => c.finding.message).join("; ")}.</p>}
      <Shown of={result} what="the comparison">{(r) => <Outcome r={r} name={(s) => s} />}</Shown>
      <Shown of={report} what="the trials">{() => <Curves groups={groups} />}</Shown>
    </>
  );
}

/** What is compared, in a line: the question, the baseline, the trials that count. */
function about(s: ReturnType<typeof derive>): string {
  const used = s.rows.reduce((n, r) => n + r.used.length, 0);
  const e = s.experiment?.plan;
  return [e?.question ?? "", `Baseline: ${e?.baseline || s.rows[0]?.variant.name}.`, `${used} of ${plural(s.trials.length, "trial")} count (${s.rows.map((r) => `${r.variant.name}: ${r.used.length}`).join(", ")}).`, date(s.trials.find(ran)?.started)].filter(Boolean).join(" ");
}

function Curves({ groups }: { groups: Group[] }) {
  return (
    <Section id="curves" title="Percentiles over each other" lead="The whole distribution of each side. Percentiles are read from each run and never averaged.">
      <Overlaid groups={groups.slice(0, MOST_CURVES)} hidden={groups.length - MOST_CURVES} />
    </Section>
  );
}

const TONE: Record<string, string> = { better: "valid", equivalent: "valid", worse: "invalid" };

function Outcome({ r, name }: { r: Result; name: (side: string) => string }) {
  const all = useMemo(() => ratios(r, name), [r, name]);
  return (
    <>
      <div class={`verdict ${TONE[r.verdict] ?? "suspect"}`} role="status">
        <p class="word">{r.verdict || "no verdict"}</p>
        <div>
          {because(r, name).slice(0, 4).map((t) => <p>{t}.</p>)}
          <p class="hint">{summary(r)}</p>
        </div>
      </div>
      {all.length > 0 && (
        <Section id="ratios" title="Ratios to the baseline">
          <Figure title={`1 is the baseline, ${all[0]!.baseline}`} note={`${intervals(all)} Grey: the margin within which two sides count as the same. Of a rate higher is better, of times and errors lower.`} behind={() => ({ head: ["side", "metric", "verdict", "ratio", "low", "high", "margin"], rows: all.map((c) => [c.variant, c.metric, c.verdict, c.ratio, c.low, c.high, c.margin]) })}>
            <Forest all={all} />
          </Figure>
        </Section>
      )}
      <Shifts r={r} name={name} />
      {r.comparisons.map((p) => <OnePair p={p} name={name} />)}
    </>
  );
}

/** What of the bars is there. */
function intervals(all: { low?: number }[]): string {
  const n = all.filter((c) => c.low).length;
  if (n === 0) return "No intervals: too few trials. Dots: the ratio that was seen.";
  return n === all.length ? "Bars: intervals." : "Bars: intervals, where there are enough trials for one.";
}

function summary(r: Result): string {
  const gates = r.comparisons.flatMap((p) => (p.metrics ?? []).filter((m) => m.gate).map((m) => m.name));
  const of = [...new Set(gates)].join(" and ");
  return `${of ? `Decided by ${of}, ` : ""}with a chance of a false alarm of ${percent(r.alpha)} in all. Other figures are for looking, and decide nothing.`;
}

function OnePair({ p, name }: { p: Pair; name: (side: string) => string }) {
  const number = (title: string) => ({ title, number: true });
  const row = (m: Metric) => [
    <>{m.name}{m.gate && <span class="tag">decides</span>}</>,
    <span class={`tone ${/better/.test(m.verdict) ? "good" : /worse/.test(m.verdict) ? "bad" : "plain"}`}>{m.verdict}{m.direction ? `, ${m.direction}` : ""}</span>,
    value(m.unit, m.a.median), value(m.unit, m.b.median), effect(m, m.effect), interval(m), m.test ? digits(m.p_adjusted) : "–", remarks(m),
  ];
  const differ = p.differences ?? [];
  const first = (p.metrics ?? []).filter(foremost);
  const rest = (p.metrics ?? []).filter((m) => !foremost(m));
  const columns = ["metric", "verdict", number("baseline"), number("this"), number("effect"), number("interval"), number("p, adjusted"), "remark"];
  return (
    <Section id={`pair-${name(p.b).replace(/\W+/g, "-")}`} title={`${name(p.b)} against ${name(p.a)}`} lead={`${plural(p.runs_b, "run")} against ${p.runs_a}${p.paired ? ", paired by blocks" : ""}: ${p.verdict || "no verdict"}.`}>
      {(p.warnings ?? []).map((w) => <p class="warning">{w}</p>)}
      {differ.length > 0 && (
        differ.some((d) => d.breaks) ? <Differences all={differ} /> : <details><summary>{plural(differ.length, "fact")} that differ, none that forbids the comparison</summary><Differences all={differ} /></details>
      )}
      <Table caption="Figures" hidden columns={columns} rows={first.map(row)} />
      {rest.length > 0 && <details><summary>{plural(rest.length, "more figure")}</summary><Table caption="More figures" hidden columns={columns} rows={rest.map(row)} /></details>}
      {(p.excluded ?? []).length > 0 && <p class="hint">Not counted: {p.excluded!.map((e) => `${e.run} (${e.reason})`).join(", ")}.</p>}
      {p.distribution && <p class="hint">A request of {name(p.b)} is faster than one of {name(p.a)} with a probability of {percent(p.distribution.faster)}; the curves are {percent(p.distribution.apart)} apart at most, at {time(p.distribution.apart_at_us)}.</p>}
    </Section>
  );
}

function Differences({ all }: { all: NonNullable<Pair["differences"]> }) {
  return <Table caption="What is not the same" columns={["fact", "baseline", "this", "forbids a verdict"]} rows={all.map((d) => [`${d.kind}: ${d.fact}`, d.a, d.b, d.breaks ? "yes" : ""])} />;
}

/** How the ratio of response times runs along the percentiles. */
function Shifts({ r, name }: { r: Result; name: (side: string) => string }) {
  const series: Series[] = r.comparisons.slice(0, MOST_CURVES).flatMap((p, i) => {
    const points = (p.distribution?.shifts ?? []).flatMap((s) => {
      const x = oneIn(s.quantile);
      return x === undefined || x < 2 || !(s.ratio > 0) ? [] : [{ x, y: s.ratio, low: s.coverage ? s.low : undefined, high: s.coverage ? s.high : undefined }];
    });
    return points.length ? [{ label: name(p.b), colour: seriesColour(i + 1), points, dots: true, dash: i % 2 === 1 }] : [];
  });
  if (series.length === 0) return null;
  const xs = [...new Set(series.flatMap((s) => s.points.map((p) => p.x)))].sort((a, b) => a - b);
  const ends = [xs[0]!, Math.max(xs.at(-1)!, xs[0]! * 2)] as const;
  const ys = series.flatMap((s) => s.points.flatMap((p) => [p.y, p.low ?? p.y, p.high ?? p.y]));
  const same: Series = { label: "the same", colour: "--muted", dash: true, points: ends.map((x) => ({ x, y: 1 })) };
  const words = series.map((s) => `${s.label}: ${s.points.map((p) => `${quantileName(p.x)} × ${digits(p.y)}`).join(", ")}.`).join(" ");
  return (
    <Figure title="Response times against the baseline, by percentile" note="Above the dashed line: slower than the baseline. Bars: intervals, where there are enough trials." behind={() => ({ head: ["side", "percentile", "ratio", "low", "high"], rows: series.flatMap((s) => s.points.map((p) => [s.label, quantileName(p.x), p.y, p.low, p.high])) })}>
      <XY label={`Ratio of response times by percentile. ${words}`} height={260} series={[same, ...series]} x={{ title: "percentile", log: true, ticks: xs, show: quantileName, low: ends[0] * 0.95, high: ends[1] * 1.05 }} y={{ title: "ratio", log: Math.max(...ys) > 4 * Math.min(...ys), low: Math.min(0.95, ...ys) * 0.97, high: Math.max(1.05, ...ys) * 1.03, show: (v) => `× ${digits(v)}` }} />
      <Legend items={[...series, same].map((s) => ({ label: s.label, colour: s.colour, dash: s.dash }))} />
    </Figure>
  );
}

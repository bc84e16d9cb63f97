// How a metric went over the runs of a variant, where it changed, and how it
// stands against the baseline.

import { HistoryChart } from "../charts/history";
import { count, digits, percent, plural } from "../data/format";
import type { Verdict } from "../data/types";
import { Badge, Figure, Legend, Section, Table } from "../ui/parts";
import { get, query, segment, send, type Baseline, type Subject } from "./api";
import { Heading } from "./app";
import { value } from "./comparison";
import { Shown, useAct, useAsk } from "./load";
import { go, Link } from "./router";
import { moment } from "./runs";

interface Metric {
  name: string;
  unit: string;
  higher_is_better: boolean;
  margin: number;
}

interface Level {
  from: number;
  runs: number;
  median: number;
  low: number;
  high: number;
  coverage: number;
  change?: number;
  better?: boolean;
  p?: number;
}

export interface History {
  experiment: string;
  variant?: string;
  metric: Metric;
  points: { run: string; started: string; verdict: Verdict; value: number }[];
  levels: Level[];
  suspicion?: { runs: number; better: boolean; needed: number };
  against?: { judgement: string; reason?: string; baseline: Level; runs: number; median: number; change: number; p?: number };
  left_out?: Record<string, number>;
}

/** The fewest runs that a baseline is taken from; the server says the same. */
const BASELINE_RUNS = 5;

export function HistoryPage({ q }: { q: URLSearchParams }) {
  const subjects = useAsk("subjects", (s) => get<{ experiments: Subject[] }>("/api/experiments", s));
  const metrics = useAsk("metrics", (s) => get<{ metrics: Metric[] }>("/api/metrics", s));
  const all = subjects.data?.experiments ?? [];
  const chosen = q.has("experiment") ? { experiment: q.get("experiment")!, variant: q.get("variant") ?? "" } : all[0] && { experiment: all[0].experiment, variant: all[0].variant ?? "" };
  const metric = q.get("metric") || "rate";
  const any = q.get("any") ?? "";
  const to = (more: Record<string, string>) => go(historyAddress({ ...(chosen ?? { experiment: "", variant: "" }), metric, any, ...more }), true);
  return (
    <>
      <Heading title="History" />
      <p class="lead">One metric over the runs of one variant, oldest first. A level moves only when enough runs show it; one lucky run moves nothing.</p>
      <Shown of={subjects} what="the experiments">
        {() => chosen ? (
          <>
            <form class="filters" onSubmit={(e) => e.preventDefault()}>
              <label class="field wide"><span>Experiment and variant</span>
                <select value={JSON.stringify(chosen)} onChange={(e) => to(JSON.parse(e.currentTarget.value) as Record<string, string>)}>
                  {(all.some((s) => s.experiment === chosen.experiment && (s.variant ?? "") === chosen.variant) ? all : [{ ...chosen, runs: 0 }, ...all]).map((s) => (
                    <option value={JSON.stringify({ experiment: s.experiment, variant: s.variant ?? "" })}>{[s.experiment || "(single loads)", s.variant].filter(Boolean).join(" · ")} ({plural(s.runs, "run")})</option>
                  ))}
                </select>
              </label>
              <label class="field"><span>Metric</span>
                <select value={metric} onChange={(e) => to({ metric: e.currentTarget.value })}>
                  {(metrics.data?.metrics ?? [{ name: metric }]).map((m) => <option value={m.name}>{m.name}</option>)}
                </select>
              </label>
              <label class="check"><input type="checkbox" checked={any === "true"} onChange={(e) => to({ any: e.currentTarget.checked ? "true" : "" })} /> also runs of other work and machines</label>
            </form>
            <OneHistory {...chosen} metric={metric} any={any} />
          </>
        ) : <p class="empty">No run is kept yet. <Link to="/new">Write an experiment</Link></p>}
      </Shown>
    </>
  );
}

/** An address that names the experiment also when its name is empty: single loads
 * have none. */
const historyAddress = (of: { experiment: string; variant: string; metric: string; any: string }): string =>
  `/history?${new URLSearchParams({ experiment: of.experiment, ...(of.variant ? { variant: of.variant } : {}), metric: of.metric, ...(of.any ? { any: of.any } : {}) })}`;

function OneHistory({ experiment, variant, metric, any }: { experiment: string; variant: string; metric: string; any: string }) {
  const path = query("/api/history", { experiment, variant, metric, any });
  const history = useAsk(path, (s) => get<History>(path, s));
  const baselines = useAsk("baselines", (s) => get<{ baselines: Baseline[] }>("/api/baselines", s));
  const own = baselines.data?.baselines.find((b) => b.experiment === experiment && (b.variant ?? "") === variant);
  const again = () => { history.again(); baselines.again(); };
  return (
    <Shown of={history} what="the history">
      {(h) => (
        <>
          <p class="sentence" role="status">{standing(h)}</p>
          {h.points.length > 0 && <Drawn h={h} />}
          <BaselineOf h={h} own={own} again={again} />
          {h.levels.length > 0 && <Levels h={h} />}
          {Object.keys(h.left_out ?? {}).length > 0 && (
            <p class="hint">Not counted: {Object.entries(h.left_out!).map(([why, n]) => `${count(n)} ${why}`).join("; ")}.</p>
          )}
          <Points h={h} />
        </>
      )}
    </Shown>
  );
}

const signed = (h: History, change: number): string =>
  `${change > 0 ? "+" : change < 0 ? "−" : ""}${h.metric.unit === "ratio" ? `${digits(Math.abs(change) * 100)} percentage points` : percent(Math.abs(change))}`;

/** Where the metric stands, in words. */
export function standing(h: History): string {
  const last = h.levels.at(-1);
  if (!last) return "No run can be counted.";
  const show = (v: number) => value(h.metric.unit, v);
  const changes = h.levels.length - 1;
  const words = [`${h.metric.name} stands at ${show(last.median)} over ${plural(last.runs, "run")}`];
  words.push(changes ? `; the last of ${plural(changes, "change")} was ${signed(h, last.change ?? 0)}, for the ${last.better ? "better" : "worse"}.` : "; no change was shown.");
  if (h.suspicion) words.push(` The last ${plural(h.suspicion.runs, "run")} may be ${h.suspicion.better ? "better" : "worse"}; ${plural(h.suspicion.needed, "more run")} would tell.`);
  if (h.against) words.push(` Against the baseline: ${h.against.judgement}${h.against.change ? ` (${signed(h, h.against.change)})` : ""}${h.against.reason ? `, ${h.against.reason}` : ""}.`);
  return words.join("");
}

function Drawn({ h }: { h: History }) {
  const show = (v: number) => value(h.metric.unit, v);
  const changes = h.levels.slice(1);
  return (
    <Figure title={`${h.metric.name}, ${h.metric.higher_is_better ? "higher" : "lower"} is better`} note="Filled: valid. Hollow: suspect. The band of a level is its interval, or the range below six runs." behind={() => ({ head: ["run", "started", "verdict", h.metric.name], rows: h.points.map((p) => [p.run, p.started, p.verdict, p.value]) })}>
      <HistoryChart
        label={`${standing(h)} ${h.levels.map((l) => `${plural(l.runs, "run")} at ${show(l.median)}.`).join(" ")}`}
        points={h.points.map((p) => ({ value: p.value, verdict: p.verdict, title: `${p.run}, ${moment(p.started)}: ${show(p.value)}` }))}
        levels={h.levels}
        baseline={h.against?.baseline}
        dates={h.points.map((p) => p.started.slice(5, 10))}
        show={show}
      />
      <Legend items={[{ label: "a run", colour: "--series-1", shape: "dot" }, { label: "level", colour: "--series-2" }, ...(h.against ? [{ label: "baseline", colour: "--series-3", dash: true }] : []), ...(changes.some((l) => l.better) ? [{ label: "change for the better", colour: "--valid", dash: true }] : []), ...(changes.some((l) => !l.better) ? [{ label: "change for the worse", colour: "--invalid", dash: true }] : [])]} />
    </Figure>
  );
}

function BaselineOf({ h, own, again }: { h: History; own?: Baseline; again: () => void }) {
  const { act, busy, said } = useAct();
  const last = h.levels.at(-1);
  const runs = last ? h.points.slice(last.from, last.from + last.runs).map((p) => p.run) : [];
  const pin = () => act(async () => {
    await send("POST", "/api/baselines", { runs });
    again();
    return "Pinned.";
  });
  const unpin = () => act(async () => {
    await send("DELETE", query("/api/baselines", { experiment: h.experiment, variant: h.variant }));
    again();
    return "The baseline is gone; its runs stay.";
  });
  return (
    <Section id="baseline" title="Baseline">
      {own ? <p>{plural(own.runs.length, "run")}, pinned {moment(own.pinned)} UTC.</p> : <p>None: later runs are held against nothing but the levels before.</p>}
      <p class="actions">
        <button type="button" disabled={busy || runs.length < BASELINE_RUNS} onClick={pin}>Make the {plural(runs.length, "run")} of the newest level the baseline</button>
        {own && <button type="button" disabled={busy} onClick={unpin}>Take the baseline away</button>}
        {runs.length < BASELINE_RUNS && <span class="hint">A baseline rests on {BASELINE_RUNS} runs at least.</span>}
      </p>
      {said}
    </Section>
  );
}

function Levels({ h }: { h: History }) {
  const show = (v: number) => value(h.metric.unit, v);
  const number = (title: string) => ({ title, number: true });
  const rows = h.levels.map((l, i) => [
    h.points[l.from] ? moment(h.points[l.from]!.started) : "–", plural(l.runs, "run"), show(l.median), `${show(l.low)} to ${show(l.high)}${l.coverage ? "" : " (range)"}`,
    i === 0 ? "–" : <span class={`tone ${l.better ? "good" : "bad"}`}>{signed(h, l.change ?? 0)}</span>, i === 0 ? "–" : digits(l.p ?? NaN),
  ]);
  return <Section id="levels" title="Levels"><Table caption="Levels, oldest first" hidden columns={["from", "runs", number("median"), number("interval"), number("change"), number("p")]} rows={rows} /></Section>;
}

function Points({ h }: { h: History }) {
  const rows = [...h.points].reverse().slice(0, 100).map((p) => [<Link to={`/runs/${segment(p.run)}`}>{p.run}</Link>, moment(p.started), <Badge of={p.verdict} />, value(h.metric.unit, p.value)]);
  if (rows.length === 0) return null;
  return (
    <Section id="points" title="The runs">
      <details open={rows.length <= 12}><summary>{plural(h.points.length, "run")}, newest first</summary>
        <Table caption="Runs, newest first" hidden columns={["run", "started", "verdict", { title: h.metric.name, number: true }]} rows={rows} />
      </details>
    </Section>
  );
}

// A running experiment: where it stands, its load by the second, who does what,
// and what was found, as it happens.

import { useEffect, useMemo, useState } from "preact/hooks";
import { TimeChart } from "../charts/time";
import { count, percent, plural, rate, size, time } from "../data/format";
import { Badge, Legend, Section, Table } from "../ui/parts";
import { seriesColour } from "../ui/theme";
import { get, segment, send, type Live } from "./api";
import { Heading } from "./app";
import { useEvents, type Link as Connection } from "./follow";
import { frameOf, panelsOf } from "./livepanels";
import { left, share, type LiveState, type Sample } from "./livestate";
import { useAct, useAsk } from "./load";
import { Link } from "./router";

export function LivePage({ id }: { id: string }) {
  const { state, link } = useEvents(id);
  const known = useAsk(`live ${id}`, (s) => get<{ live: Live[] }>("/api/live", s));
  const about = known.data?.live.find((l) => l.id === id);
  const missing = state.last === 0 && (link === "gone" || (known.data !== undefined && !about));
  if (missing) {
    return (
      <>
        <Heading title="Not here" />
        <p>No experiment of this address was started by this server since it began. What it measured is kept: <Link to="/">all runs</Link>.</p>
      </>
    );
  }
  return (
    <>
      <div class="page-head">
        <Heading title={state.campaign?.name || about?.name || "Experiment"} />
        <Stop id={id} state={state} />
      </div>
      <Standing state={state} link={link} />
      {!state.ended && <Charts state={state} />}
      {!state.ended && <Samples of={state.samples} />}
      <Findings state={state} />
      <Trials state={state} />
    </>
  );
}

function Stop({ id, state }: { id: string; state: LiveState }) {
  const { act, busy, said } = useAct();
  if (state.ended) return null;
  const stop = () => act(async () => {
    await send("POST", `/api/runs/${segment(id)}/stop`, {});
    return "Asked to stop; the services are being ended.";
  });
  return <div class="actions">{said}<button type="button" class="grave" disabled={busy} onClick={stop}>Stop</button></div>;
}

/** The clock, for what is left. */
function useNow(running: boolean): number {
  const [now, set] = useState(Date.now());
  useEffect(() => {
    if (!running) return;
    const timer = setInterval(() => set(Date.now()), 1000);
    return () => clearInterval(timer);
  }, [running]);
  return now;
}

function Standing({ state, link }: { state: LiveState; link: Connection }) {
  const now = useNow(!state.ended);
  if (state.ended) return <Ended state={state} />;
  const t = state.trial;
  const done = share(state);
  return (
    <div class="standing">
      <p class="now" role="status">
        <strong>{t ? `Trial ${t.number} of ${t.of}` : "Getting ready"}</strong>
        {t?.variant ? ` · ${t.variant}` : ""}{t && t.of > 1 ? ` · block ${t.block + 1}` : ""}
      </p>
      <progress value={done} max={1} aria-label="Done of the whole experiment" />
      <p class="hint">
        {percent(Math.floor(done * 100) / 100)} done{t ? `, ${left(state, now)} left` : ""}
        {state.phase ? ` · ${state.phase}` : ""}{state.progress?.warmup ? " · warm-up, counted in no number" : ""}
      </p>
      {link === "gone" && <p class="warning" role="alert">The server was started anew and no longer follows this experiment. The trials that had ended are kept: <Link to="/">all runs</Link>.</p>}
      {link === "lost" && <p class="warning" role="status">The connection is lost; trying again. The experiment goes on by itself.</p>}
    </div>
  );
}

function Ended({ state }: { state: LiveState }) {
  const e = state.ended!;
  const kept = e.runs.length;
  return (
    <div class={`verdict ${e.error ? "suspect" : "valid"}`} role="status">
      <p class="word">{e.error ? "ended early" : "done"}</p>
      <div>
        {e.error && <p>{e.error}</p>}
        <p>{kept ? `${plural(kept, "run")} kept.` : "No run was kept."}{" "}
          {state.campaign && kept > 0 && <Link to={`/campaigns/${segment(state.campaign.id)}`}>See the report</Link>}{" "}
          {!state.campaign && kept === 1 && <Link to={`/runs/${segment(e.runs[0]!)}`}>See the run</Link>}{" "}
          {kept === 0 && <Link to="/new">Back to the editor</Link>}
        </p>
      </div>
    </div>
  );
}

function Charts({ state }: { state: LiveState }) {
  const panels = useMemo(() => panelsOf(state), [state.seconds]);
  const p = state.progress;
  const frame = useMemo(() => frameOf(state), [state.seconds]);
  if (state.seconds.length === 0) return <p class="waiting">No load yet{state.phase ? `: ${state.phase}` : ""}.</p>;
  const now = state.seconds.at(-1)!;
  return (
    <Section id="load" title="The load now">
      <dl class="latencies">
        {([["requests/s", rate(now.rate)], ["p50", time(now.p50)], ["p99", time(now.p99)], ["failed so far", count(p?.failed ?? 0)], ["connections", count(p?.open ?? 0)], ["generator", percent(now.generator)]] as const).map(([k, v]) => <div><dt>{k}</dt><dd>{v}</dd></div>)}
      </dl>
      <div class="grid2">
        {panels.map((panel) => (
          <figure>
            <figcaption>{panel.title}</figcaption>
            <TimeChart panel={panel} frame={frame} height={190} />
            <Legend items={panel.lines.map((l, i) => ({ label: l.label, colour: seriesColour(i), dash: l.dash }))} />
          </figure>
        ))}
      </div>
      {state.seconds.some((x) => x.warmup) && <p class="hint">Shaded: the warm-up, which counts in no number.</p>}
    </Section>
  );
}

const SHOWN: [metric: string, title: string, show: (v: number) => string][] = [
  ["cpu_cores", "cores used", (v) => v.toFixed(2)],
  ["cpu_busy_ratio", "busy", percent],
  ["throttled_ratio", "held back", percent],
  ["memory_bytes", "memory", size],
  ["rss_bytes", "resident", size],
  ["memory_available_bytes", "memory free", size],
  ["in_bytes_rate", "in", (v) => `${size(v)}/s`],
  ["out_bytes_rate", "out", (v) => `${size(v)}/s`],
];

/** Who does what, like htop: the machines and services, now. */
export function Samples({ of }: { of: Sample[] }) {
  const order = ["host", "generator", "service", "interface"];
  const silent = (o: Sample) => o.kind === "interface" && !o.values.in_bytes_rate && !o.values.out_bytes_rate;
  const rows = of.filter((o) => order.includes(o.kind) && !silent(o)).sort((a, b) => order.indexOf(a.kind) - order.indexOf(b.kind));
  const columns = SHOWN.filter(([m]) => rows.some((o) => typeof o.values[m] === "number"));
  if (columns.length === 0) return null;
  const many = (o: Sample) => rows.filter((p) => p.kind === o.kind && p.service === o.service && p.name === o.name).length > 1;
  const named = (o: Sample) => `${o.service || o.name || (o.kind === "host" ? "this machine" : o.kind)}${o.kind === "service" && many(o) ? `[${o.instance ?? 0}]` : ""}${o.host && o.kind !== "host" ? ` on ${o.host}` : ""}`;
  return (
    <Section id="machines" title="Machines and services now">
      <Table
        caption="Machines and services"
        hidden
        columns={["name", "kind", ...columns.map(([, title]) => ({ title, number: true }))]}
        rows={rows.map((o) => [named(o), o.kind, ...columns.map(([m, , show]) => (typeof o.values[m] === "number" ? <Bar v={o.values[m]!} metric={m} text={show(o.values[m]!)} /> : "–"))])}
      />
    </Section>
  );
}

function Bar({ v, metric, text }: { v: number; metric: string; text: string }) {
  if (!metric.endsWith("_ratio")) return <>{text}</>;
  return <span class="meter"><i style={{ width: `${Math.min(1, Math.max(0, v)) * 100}%` }} />{text}</span>;
}

const GRAVITY = ["invalid", "suspect", "note", "info"];

function byGravity(all: LiveState["findings"]): LiveState["findings"] {
  return [...all].sort((a, b) => GRAVITY.indexOf(a.finding.severity) - GRAVITY.indexOf(b.finding.severity));
}

function Findings({ state }: { state: LiveState }) {
  if (state.findings.length === 0) return null;
  return (
    <Section id="findings" title="Found so far">
      <ul class="findings" aria-live="polite">
        {byGravity(state.findings).map(({ finding: f, numbers }) => (
          <li>
            <p class="what"><Badge of={f.severity} /> <span>{f.message}</span></p>
            {f.advice && <p class="advice">{f.advice}</p>}
            <p class="hint">{[f.id, f.rule].filter(Boolean).join(" ")} · {numbers.length === 1 ? "trial" : "trials"} {numbers.join(", ")}</p>
          </li>
        ))}
      </ul>
    </Section>
  );
}

function Trials({ state }: { state: LiveState }) {
  if (state.done.length === 0) return null;
  const number = (title: string) => ({ title, number: true });
  const rows = [...state.done].reverse().map((d) => [
    String(d.number), d.variant, <Badge of={d.error ? "invalid" : d.verdict} text={d.error ? "failed" : undefined} />,
    d.error ? "–" : rate(d.rate), d.error ? "–" : time(d.p50_us), d.error ? "–" : time(d.p99_us), d.error || d.bottleneck || "not identified",
  ]);
  return (
    <Section id="trials" title="Finished trials">
      <Table caption="Finished trials, newest first" hidden columns={[number("trial"), "variant", "verdict", number("requests/s"), number("p50"), number("p99"), "limited by"]} rows={rows} />
    </Section>
  );
}

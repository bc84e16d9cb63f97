// One trial, second by second: load, response times and everything that was
// watched, on one time axis. Warm-up and drain are shaded, worst seconds marked.

import { useMemo } from "preact/hooks";
import { Heat } from "../charts/heat";
import { TimeChart, show, type Frame } from "../charts/time";
import { time, digits } from "../data/format";
import { unstable } from "../data/model";
import { panels, worst, type Panel, type Worst } from "../data/series";
import type { Trial } from "../data/types";
import { Figure, Legend, Section } from "../ui/parts";
import { seriesColour } from "../ui/theme";

const GROUPS: [Panel["group"], string][] = [
  ["cpu", "Processors"],
  ["memory", "Memory"],
  ["network", "Network"],
  ["jvm", "Java virtual machines"],
  ["server", "Servers"],
];

export function Timeline({ trial, name }: { trial: Trial; name: string }) {
  const all = useMemo(() => panels(trial), [trial]);
  const bad = useMemo(() => worst(trial, time), [trial]);
  const frame = useMemo(() => frameOf(trial, bad), [trial, bad]);
  const load = all.filter((p) => p.group === "load");
  const heat = (trial.load.intervals ?? []).some((i) => i.response?.hdr);
  if (load.length === 0) return null;
  return (
    <Section id="time" title="Over time" lead={`${name}Second by second. Shaded: warm-up, which counts in no number.${bad.length ? " Marked: the worst seconds." : ""}`}>
      {unstable(trial) && <p class="warning">The queue grew through this window: the percentiles of later seconds are those of the queue.</p>}
      <WorstSeconds all={bad} />
      {load.slice(0, 2).map((p) => <Over p={p} frame={frame} height={p.id === "latency" ? 240 : 180} />)}
      {heat ? (
        <Figure title="Response times, each second" note="A column is a second, a row a step of response time; the colour says how many requests fell there." behind={() => seconds(trial)}>
          <Heat intervals={trial.load.intervals ?? []} frame={frame} />
        </Figure>
      ) : (
        <p class="hint">The histograms of this trial's seconds are not in this file, so there is no heat map.</p>
      )}
      <div class="grid2">{load.slice(2).map((p) => <Over p={p} frame={frame} />)}</div>
      {GROUPS.map(([group, title]) => <Group title={title} all={all.filter((p) => p.group === group)} frame={frame} />)}
      <Missing trial={trial} />
    </Section>
  );
}

export function frameOf(t: Trial, bad: Worst[]): Frame {
  const all = t.load.intervals ?? [];
  const window = t.load.duration_us / 1e6;
  const first = Math.min(0, ...all.filter((i) => !i.drain).map((i) => i.start_us / 1e6));
  const observed = (t.observed ?? []).flatMap((o) => o.at_us ?? []);
  const last = observed.length ? Math.min(window + 5, observed.reduce((a, b) => Math.max(a, b)) / 1e6) : window;
  return { from: first, to: Math.max(window, last), window, marks: bad.map((b) => b.x) };
}

function Group({ title, all, frame }: { title: string; all: Panel[]; frame: Frame }) {
  if (all.length === 0) return null;
  return (
    <>
      <h3>{title}</h3>
      <div class="grid2">{all.map((p) => <Over p={p} frame={frame} />)}</div>
    </>
  );
}

function Over({ p, frame, height }: { p: Panel; frame: Frame; height?: number }) {
  const lines = p.lines.filter((l) => l.x.length > 0);
  return (
    <Figure title={p.title} note={p.note} behind={() => numbers(p)}>
      <TimeChart panel={p} frame={frame} height={height} />
      <Legend items={lines.map((l) => ({ label: l.label, colour: seriesColour(p.lines.indexOf(l)), dash: l.dash }))} />
    </Figure>
  );
}

function numbers(p: Panel) {
  const unit = { rate: "per_second", time: "us", share: "ratio", cores: "cores", size: "bytes", "size/s": "bytes_per_second", count: "count" }[p.unit];
  const rows = p.lines.flatMap((l) => l.x.map((x, i) => [+x.toFixed(3), l.label, l.y[i] ?? null] as (string | number | null)[]));
  return { head: ["second", "series", unit], rows };
}

function seconds(t: Trial) {
  const rows = (t.load.intervals ?? []).map((i) => [i.start_us / 1e6, i.response?.count ?? 0, i.response?.p50_us ?? null, i.response?.p99_us ?? null, i.response?.max_us ?? null]);
  return { head: ["start_second", "answers", "p50_us", "p99_us", "max_us"], rows };
}

function WorstSeconds({ all }: { all: Worst[] }) {
  if (all.length === 0) return null;
  return (
    <div class="worst">
      <h3>Worst seconds</h3>
      <ul>
        {all.map((w) => (
          <li><strong>at {digits(Math.floor(w.x))} s</strong>: {w.text}{w.with.length > 0 && <> · with {w.with.join(", ")}</>}</li>
        ))}
      </ul>
    </div>
  );
}

/** What one would expect and was not known, in words instead of empty charts. */
function Missing({ trial }: { trial: Trial }) {
  const observed = trial.observed ?? [];
  const unknown = observed.flatMap((o) => Object.entries(o.unknown ?? {}).map(([k, why]) => `${o.service || o.name || o.kind}: ${k.replaceAll("_", " ")}: ${why}`));
  const services = (trial.services ?? []).length > 0 || (trial.plan?.services ?? []).length > 0;
  const watched = observed.some((o) => o.kind === "service");
  if (unknown.length === 0 && (watched || !services)) {
    return observed.length === 0 ? <p class="hint">Only the generator was watched: of the target and the machines there are no series.</p> : null;
  }
  return (
    <div class="hint">
      {!watched && <p>The services were not watched second by second in this trial; what they used in total stands under “What took part”.</p>}
      {unknown.length > 0 && (
        <details>
          <summary>{unknown.length} figures that are not known, and why</summary>
          <ul>{unknown.slice(0, 100).map((t) => <li>{t}</li>)}</ul>
        </details>
      )}
    </div>
  );
}

export { show };

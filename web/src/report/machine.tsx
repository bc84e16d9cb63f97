// What took part: the drawn topology and the same as a table; what it cost.

import { Topology, busy } from "../charts/topology";
import { digits, percent, rate, size } from "../data/format";
import { parts, planOf, ran, type Part, type Shown } from "../data/model";
import { median } from "../data/stats";
import type { Trial } from "../data/types";
import { Section, Table } from "../ui/parts";
import { Limiter } from "./limit";

export function Machine({ shown, trial, name }: { shown: Shown; trial: Trial; name: string }) {
  const plan = planOf(shown, trial);
  const all = parts(trial, plan);
  const where = trial.bottleneck?.where;
  const drawn = all.length > 1 ? all : [...all, unknownTarget(trial)];
  return (
    <Section id="parts" title="What took part" lead={`${name}Who asked whom, and how busy each was.`}>
      <figure aria-label="Topology">
        <Topology parts={drawn} plan={plan} limiter={where} rate={`${rate(trial.load.rate)}/s`} />
      </figure>
      <Table caption="How busy each part was" columns={["part", "what", { title: "CPU", number: true }, { title: "of its limit", number: true }, { title: "CPU per request", number: true }, { title: "held back", number: true }, { title: "peak memory", number: true }]} rows={all.map(line)} />
      {trial.load.loopback && <p class="hint">Generator and target ran on one machine and shared its cores.</p>}
      {shown.experiment && <Limiter trial={trial} />}
      {shown.rows.length > 1 && <Costs shown={shown} />}
    </Section>
  );
}

function unknownTarget(t: Trial): Part {
  return { name: "target", role: "service", instances: 1, what: t.load.loopback ? "here, not watched" : "not watched" };
}

function line(p: Part) {
  return [
    `${p.name}${p.instances > 1 ? ` × ${p.instances}` : ""}`,
    [p.what, p.version, p.host ? `on ${p.host}` : ""].filter(Boolean).join(", "),
    busy(p),
    percent(p.share),
    p.perRequest ? `${digits(p.perRequest)} µs` : "not known",
    percent(p.throttled),
    p.memory ? size(p.memory) : "not known",
  ];
}

/** CPU per request of each part, over the variants: the cost that a rate hides. */
function Costs({ shown }: { shown: Shown }) {
  const names = [...new Set(shown.trials.filter(ran).flatMap((t) => parts(t, planOf(shown, t)).map((p) => p.name)))];
  const rows = shown.rows.filter((r) => r.used.length > 0).map((r) => {
    const each = r.used.map((t) => parts(t, planOf(shown, t)));
    const cell = (n: string) => {
      const v = median(each.map((ps) => ps.find((p) => p.name === n)?.perRequest ?? NaN).filter(Number.isFinite));
      return Number.isFinite(v) ? `${digits(v)} µs` : "–";
    };
    return [r.variant.name, ...names.map(cell)];
  });
  return <Table caption="CPU per request, median over the trials" columns={["variant", ...names.map((title) => ({ title, number: true }))]} rows={rows} />;
}

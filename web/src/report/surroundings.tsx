// Was it a fair comparison, and on what machines.

import { digits, size } from "../data/format";
import { planOf, ran, type Shown } from "../data/model";
import type { Environment, Limits, Plan, Trial } from "../data/types";
import { Pairs, Section, Table } from "../ui/parts";

export function Fairness({ shown }: { shown: Shown }) {
  const rows = shown.rows.filter((r) => r.typical);
  if (rows.length < 2) return null;
  const facts = rows.map((r) => factsOf(r.typical!, planOf(shown, r.typical!)));
  const names = [...new Set(facts.flatMap((f) => [...f.keys()]))];
  const lines = names.map((n) => {
    const values = facts.map((f) => f.get(n) ?? "–");
    const same = values.every((v) => v === values[0]);
    return { n, values, same };
  });
  const differ = lines.filter((l) => !l.same);
  const equal = lines.filter((l) => l.same);
  return (
    <Section id="fairness" title="Was it fair?" lead="What a comparison may not differ in, unless it is what was varied.">
      {differ.length > 0 ? (
        <Table caption="What differed between the variants" columns={["", ...rows.map((r) => r.variant.name)]} rows={differ.map((l) => [l.n, ...l.values])} />
      ) : (
        <p>Nothing that was looked at differed between the variants.</p>
      )}
      <details>
        <summary>{equal.length} facts that were the same everywhere</summary>
        <Pairs of={equal.map((l) => [l.n, l.values[0]])} />
      </details>
    </Section>
  );
}

function limitText(l: Limits | undefined): string {
  if (!l) return "none";
  const all = [l.cpus ? `${digits(l.cpus)} cores${l.startup_cpus ? ` (${digits(l.startup_cpus)} until it is warm)` : ""}` : "", l.cores?.length ? `on cores ${l.cores.join(",")}` : "", l.memory_bytes ? size(l.memory_bytes) : "", l.pids ? `${l.pids} processes` : ""].filter(Boolean);
  return all.join(", ") || "none";
}

function factsOf(t: Trial, p: Plan | undefined): Map<string, string> {
  const m = new Map<string, string>();
  const l = t.load;
  m.set("model", l.model);
  m.set("protocol", `${l.protocol}${l.tls ? ` over ${l.tls.version}` : ""}`);
  m.set("connections", String(l.connections.asked));
  m.set("generator threads", String(l.threads));
  m.set("engine", l.engine);
  m.set("keep-alive", p?.load.no_keep_alive ? "no" : "yes");
  m.set("bytes of an answer", l.requests.completed ? digits(l.bytes_in / (l.requests.completed + l.requests.failed), 4) : "–");
  m.set("statuses", Object.keys(l.statuses ?? {}).join(", ") || "none");
  for (const s of p?.services ?? []) {
    m.set(`${s.name}: what`, s.entry ?? s.url ?? s.kind);
    m.set(`${s.name}: instances`, String(s.instances));
    m.set(`${s.name}: limits of each`, limitText(s.limits));
    if (s.params) m.set(`${s.name}: parameters`, Object.entries(s.params).map(([k, v]) => `${k}=${v}`).join(", "));
    if (s.host) m.set(`${s.name}: host`, s.host);
  }
  for (const s of t.services ?? []) if (s.version) m.set(`${s.name}: version`, s.version);
  return m;
}

export function Surroundings({ shown, trial }: { shown: Shown; trial: Trial }) {
  const hosts: [string, Environment][] = [["generator's machine", trial.environment ?? shown.trials.find((t) => ran(t) && t.environment)?.environment ?? {}], ...Object.entries(trial.hosts ?? {})];
  return (
    <Section id="machines" title="The machines" lead="What a result can only be repeated with.">
      {hosts.map(([name, e]) => <Machine name={name} e={e} alone={hosts.length === 1} />)}
      {(trial.observed ?? []).some((o) => o.facts) && (
        <details>
          <summary>What was known of each thing that was watched</summary>
          {(trial.observed ?? []).filter((o) => o.facts).map((o) => (
            <>
              <h3>{[o.kind, o.service, o.name].filter((v, i, a) => v && a.indexOf(v) === i).join(" ")}</h3>
              <Pairs of={Object.entries(o.facts!)} />
            </>
          ))}
        </details>
      )}
    </Section>
  );
}

function Machine({ name, e, alone }: { name: string; e: Environment; alone: boolean }) {
  const more = { ...e.facts, ...e.sysctl };
  return (
    <>
      {!alone && <h3>{name}</h3>}
      <Pairs
        of={[
          ["Name", e.hostname],
          ["Processor", [e.cpu_model, e.cpus ? `${e.cpus} cores` : ""].filter(Boolean).join(", ")],
          ["Memory", e.memory_bytes ? size(e.memory_bytes) : ""],
          ["System", [e.os, e.kernel, e.arch].filter(Boolean).join(" ")],
          ["Built with", e.go],
        ]}
      />
      {Object.keys(more).length > 0 && (
        <details>
          <summary>{Object.keys(more).length} settings of the system<span class="unseen"> of {name}</span></summary>
          <Pairs of={Object.entries(more).sort(([a], [b]) => (a < b ? -1 : 1))} />
        </details>
      )}
    </>
  );
}

// The books: what was asked equals what came of it. And every run of an
// experiment, also those that failed.

import { count, date, percent, rate, size, time } from "../data/format";
import { loadsOf, ran, type Shown } from "../data/model";
import type { Load, Trial } from "../data/types";
import { Badge, Pairs, Section, Table } from "../ui/parts";

export function Books({ trial, name }: { trial: Trial; name: string }) {
  return (
    <Section id="books" title="The books" lead={`${name}Every planned request has exactly one outcome.`}>
      {loadsOf(trial).map((l) => <Ledger load={l} />)}
      <Generator trial={trial} />
    </Section>
  );
}

function Ledger({ load: l }: { load: Load }) {
  const q = l.requests;
  const adds = q.asked === q.completed + q.failed + q.cut_off + q.unsent;
  const rows: [string, number][] = [["completed", q.completed], ["failed", q.failed], ["cut off at the end", q.cut_off], ["never sent", q.unsent]];
  const statuses = Object.entries(l.statuses ?? {}).map(([k, v]) => `${k} × ${count(v)}`).join(", ");
  const c = l.connections;
  const seconds = l.duration_us / 1e6;
  return (
    <>
      {l.name && <h3>Load {l.name}</h3>}
      <Table caption={`Requests: ${count(q.asked)} asked${adds ? "" : ". These do not add up"}`} columns={["outcome", { title: "requests", number: true }, { title: "share", number: true }]} rows={rows.map(([k, n]) => [k, count(n), percent(q.asked ? n / q.asked : 0)])} />
      <Pairs
        of={[
          ["Warm-up", q.warmup ? `${count(q.warmup)} requests more, counted in no number` : ""],
          ["Statuses", statuses || "no answer"],
          ["Bytes in", `${size(l.bytes_in)}, about ${size(l.bytes_in / Math.max(seconds, 1e-9))}/s`],
          ["Bytes out", size(l.bytes_out)],
          ["Connections", `${count(c.asked)} asked, ${count(c.opened)} opened, ${count(c.peak)} at most at once${c.failed ? `, ${count(c.failed)} attempts failed` : ""}${c.reopened ? `, ${count(c.reopened)} opened again` : ""}`],
          ["Connecting took", c.connect_time?.count ? `p50 ${time(c.connect_time.p50_us)}, p99 ${time(c.connect_time.p99_us)}` : ""],
          ["TLS", l.tls ? `${l.tls.version}, ${l.tls.cipher}, ${count(l.tls.full_handshakes)} full handshakes, ${count(l.tls.resumed_handshakes)} resumed, certificate ${l.tls.verified ? "verified" : "not verified"}` : ""],
          ["Ended by", l.ended_by],
          ["Engine", [l.engine, l.engine_reason].filter(Boolean).join(": ")],
        ]}
      />
      {(l.failure_details?.length ?? 0) > 0 && (
        <Table caption="Failures by kind" columns={["kind", "phase", { title: "count", number: true }, "first example"]} rows={l.failure_details!.map((f) => [`${f.kind}${f.errno ? ` (${f.errno})` : ""}`, f.phase, count(f.count), <code>{f.example}</code>])} />
      )}
      {(l.samples?.length ?? 0) > 0 && (
        <details>
          <summary>Kept answers, one of each status</summary>
          {l.samples!.map((s) => <pre tabIndex={0} role="region" aria-label={`Answer with status ${s.status}`}><code>{s.head}</code></pre>)}
        </details>
      )}
    </>
  );
}

function Generator({ trial }: { trial: Trial }) {
  const g = trial.generator;
  if (!g || g.cpu_us === 0) return <p class="hint">How full the generator was is not known.</p>;
  return (
    <Pairs
      of={[
        ["Generator", `${percent(g.mean_busy)} of ${g.cpus} cores busy, at most ${percent(g.peak_busy)}; its busiest thread at most ${percent(g.peak_thread_busy)} of a core`],
        ["Its cost", `${time(g.cpu_us_per_request)} of CPU a request, ${size(g.max_rss_bytes)} of memory at most`],
        ["Watching cost", trial.watch_cores ? `${percent(trial.watch_cores)} of a core` : g.monitor_cpu ? `${percent(g.monitor_cpu)} of a core` : ""],
        ["Unknown of it", g.unknown?.length ? g.unknown.join(", ") : ""],
      ]}
    />
  );
}

export function Runs({ shown, choose, chosen }: { shown: Shown; choose: (t: Trial) => void; chosen: Trial | undefined }) {
  const number = (title: string) => ({ title, number: true });
  const rows = shown.trials.map((t) => [
    ran(t) ? (
      <button type="button" class="link" aria-pressed={t === chosen} onClick={() => choose(t)}>{t.number}<span class="unseen">: show this trial</span></button>
    ) : (
      String(t.number)
    ),
    String(t.block + 1),
    t.variant,
    ran(t) ? rate(t.load.rate) : "–",
    ran(t) ? time(t.load.latency.response?.p50_us) : "–",
    ran(t) ? time(t.load.latency.response?.p99_us) : "–",
    ran(t) ? percent(t.load.requests.failed / Math.max(1, t.load.requests.asked)) : "–",
    <Badge of={t.error ? "invalid" : t.validity.verdict} text={t.error ? "failed" : undefined} />,
    t.error ?? t.bottleneck?.message ?? "limit not identified",
  ]);
  const table = <Table caption="All trials, in the order in which they ran" columns={[number("trial"), number("block"), "variant", number("requests/s"), number("p50"), number("p99"), number("errors"), "verdict", "limited by, or why there is no result"]} rows={rows} />;
  return (
    <Section id="runs" title="Every trial" lead="Also those that failed or cannot be used. Choose one to see it in the sections above and below.">
      {rows.length > 40 ? <details><summary>{count(rows.length)} trials</summary>{table}</details> : table}
    </Section>
  );
}

export { date };

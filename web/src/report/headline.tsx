// The number of an experiment, what it rests on, and how it stands to the
// baseline.

import { rests, standing, type Rests } from "../data/answer";
import { by, count, digits, percent, plural, rate, time } from "../data/format";
import { axes, toNumber, type Row, type Shown } from "../data/model";
import type { Spread } from "../data/stats";
import { Glance } from "./glance";
import { Term } from "./words";

export const half = (s: Spread): number => (s.n > 1 ? (s.high - s.low) / 2 : 0);

/** The variant with the highest rate, and the one it is compared with. */
export function chosen(shown: Shown): { best?: Row; base?: Row; rows: Row[] } {
  const rows = shown.rows.filter((r) => r.rate.n > 0);
  const best = rows.reduce<Row | undefined>((b, r) => (!b || r.rate.median > b.rate.median ? r : b), undefined);
  return { best, base: shown.baseline?.rate.n ? shown.baseline : rows[0], rows };
}

export function Headline({ shown, best, base }: { shown: Shown; best: Row; base: Row }) {
  const many = shown.rows.length;
  const of = rests(best);
  return (
    <div class="headline">
      <p class="big">{by(best.rate.median, half(best.rate))} <span>requests/s</span></p>
      <p class="around">with <strong>{best.variant.name}</strong>{many > 1 ? `, the highest of ${count(many)} variants` : ""}: {of.on}{between(best.rate)}</p>
      <Dropped of={of} />
      <Against best={best} base={base} shown={shown} />
      <Latencies items={[["p50", best.p50.median], ["p99", best.p99.median]]} errors={best.errors} />
      <Glance shown={shown} />
    </div>
  );
}

/** ", 96.9% interval 42 to 43", or the range where there is no interval. */
function between(s: Spread): string {
  if (s.n < 2) return "; one trial has no interval";
  const text = `${by(s.low, half(s))} to ${by(s.high, half(s))}`;
  return s.coverage ? `, ${digits(s.coverage * 100)}% interval ${text}` : `, range ${text} (an interval takes six)`;
}

/** What was left out of the number is said beside it. */
function Dropped({ of }: { of: Rests }) {
  if (of.out.length === 0) return null;
  const [one] = of.out;
  const text = of.out.length === 1
    ? `Trial ${one!.trial.number}${one!.rate === undefined ? "" : ` (${rate(one!.rate)})`} is left out: ${one!.why}.`
    : `Left out: ${of.out.slice(0, 3).map((o) => `trial ${o.trial.number}${o.rate === undefined ? "" : ` (${rate(o.rate)})`}`).join(", ")}${of.out.length > 3 ? ` and ${of.out.length - 3} more` : ""}; the first since ${one!.why}.`;
  return <p class="dropped hint">{text}</p>;
}

function Against({ best, base, shown }: { best: Row; base: Row; shown: Shown }) {
  const foot = <>the baseline <strong>{base.variant.name}</strong></>;
  if (shown.rows.length < 2) return null;
  if (best === base) return <p class="sentence">No variant did better than {foot}.</p>;
  const s = standing(best, base, shown.doc.comparisons ?? []);
  return (
    <p class="sentence">
      <strong>{s.sure ? "" : "About "}{digits(s.times)} times</strong> {foot}, which reached {by(base.rate.median, half(base.rate))} requests/s
      {withTimes(best, base, shown)}{s.by && <> (<Spoken text={s.by} of="usable blocks" />)</>}{s.verdict && s.sure ? <>: <strong>{s.verdict}</strong></> : ""}. {s.says && <Spoken text={s.says} words="verdict" of="cannot tell" />}
    </p>
  );
}

/** "with 3 times the instances", where one number is what was varied. */
function withTimes(best: Row, base: Row, shown: Shown): string {
  const all = axes(shown);
  const [a] = all;
  const [n, n1] = [best, base].map((r) => toNumber(r.variant.values?.[a?.name ?? ""]));
  return all.length === 1 && a!.numeric && n && n1 ? `, with ${digits(n / n1)} times the ${a!.name.split(".").at(-1)}` : "";
}

/** A text in which some words have their meaning as a hint. */
function Spoken({ text, words, of }: { text: string; words?: string; of: string }) {
  const [before = "", after] = text.split(words ?? of);
  return after === undefined ? <>{text}</> : <>{before}<Term of={of}>{words ?? of}</Term>{after}</>;
}

export function Latencies({ items, errors }: { items: [string, number | undefined][]; errors: number }) {
  const [middle, tail] = [items.find(([k]) => k === "p50")?.[1], items.find(([k]) => k === "p99")?.[1]];
  const apart = middle && tail ? tail / middle : 0;
  return (
    <>
      <dl class="latencies">
        {items.map(([k, v]) => (
          <div><dt><Term of={k} /></dt><dd>{time(v)}</dd></div>
        ))}
        <div><dt>errors</dt><dd>{percent(errors)}</dd></div>
      </dl>
      {apart >= 10 && <p class="hint tail">1 request in 100 takes at least {digits(apart, 2)} times as long as the middle one.</p>}
    </>
  );
}

/** Where the number of the baseline comes from. */
export function Baseline({ base, repeats, order }: { base: Row; repeats: number; order: string }) {
  return <><strong>{base.variant.name}</strong>: {by(base.rate.median, half(base.rate))} requests/s, {rests(base).on}; {plural(repeats, "trial")} of each variant, in {order} <Term of="block">blocks</Term></>;
}

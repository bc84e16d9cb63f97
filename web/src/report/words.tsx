// Words that a reader may not know: as a hint where they stand, and all of them
// in a list, which also a finger and a printer reach.

import type { ComponentChildren } from "preact";
import { Section } from "../ui/parts";

const WORDS = {
  trial: "One measurement: targets started afresh, warmed up, then loaded.",
  variant: "One setting of what was varied. Each variant is measured in several trials.",
  block: "One round in which every variant has one trial, in shuffled order: what changes slowly on the machine touches all alike.",
  "usable blocks": "Blocks in which the trials of both variants count. The ratio is taken within each block; the number in front is the middle of these ratios.",
  baseline: "The variant that the others are compared with.",
  "closed model": "Each connection sends its next request when the last one was answered, as wrk and ab do: a slow target is asked less.",
  "open model": "Requests leave by a timetable that does not wait for answers, as independent users would send them.",
  generator: "The part of Prony that sends the requests and takes the times.",
  "app[0]": "The first instance of the service app; app[1] is the second.",
  p50: "The time within which half of the requests were answered.",
  p99: "99 of 100 requests were answered within this time; p50 is the middle one.",
  valid: "Nothing speaks against the number.",
  suspect: "Usable with care: something that can change the number was seen.",
  invalid: "Not usable: it is listed, and counts in no figure.",
  definite: "The limit was read from a counter that can have no other cause.",
  likely: "The limit fits what was measured; another cause is possible.",
  hint: "The limit is only suggested by what was measured.",
  "cannot tell": "The trials show neither a difference that matters nor that there is none. It does not mean “no difference”.",
  periods: "A CPU quota is handed out in periods of mostly 0.1 s. Held back in a period: the quota was used up before the period ended.",
  "accept queue": "Connections that wait until the target takes them.",
  backend: "What stands behind a gateway and makes the answers. Backend-bound: it is the limit, and not the gateway.",
} as const;

export type Word = keyof typeof WORDS;

const meaning = (w: string): string | undefined => (Object.hasOwn(WORDS, w) ? WORDS[w as Word] : undefined);

/** A word with its meaning as a hint; other words stay as they are. */
export function Term({ of, children }: { of: string; children?: ComponentChildren }) {
  const means = meaning(of);
  return means ? <abbr title={means}>{children ?? of}</abbr> : <>{children ?? of}</>;
}

export function Glossary() {
  return (
    <Section id="words" title="Words of this page">
      <details>
        <summary>What {Object.keys(WORDS).length} of them mean</summary>
        <dl class="words">{Object.entries(WORDS).map(([w, m]) => <div><dt>{w}</dt><dd>{m}</dd></div>)}</dl>
      </details>
    </Section>
  );
}

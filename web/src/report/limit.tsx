// What limits it: the name of the limit first, then how that shows, and behind a
// fold what was looked at and is not the limit.

import { clauses, others, sameLimit } from "../data/answer";
import { percent } from "../data/format";
import { limitName } from "../data/limits";
import type { Row } from "../data/model";
import type { Trial } from "../data/types";
import { Term } from "./words";

export function Limiter({ trial, row }: { trial: Trial | undefined; row?: Row }) {
  const b = trial?.bottleneck;
  const [first, rest] = clauses(b?.message ?? "");
  const cleared = b?.exonerated ?? [];
  const name = limitName(b?.what, b?.where);
  const known = b && name !== "not identified";
  return (
    <div class="limiter-text">
      <h2>What limits it <small>why not double?</small></h2>
      <p class="limit-name"><strong>{known ? upper(name) : "Not identified"}</strong>{b?.confidence && <> (<Term of={b.confidence} />)</>}{row && <span class="unseen"> with {row.variant.name}</span>}</p>
      <p>{b ? sentence(first) : "The limit was not identified."}{row && <Often row={row} />}</p>
      <Others trial={trial} />
      {rest && <p class="hint">{sentence(rest)}</p>}
      {cleared.length > 0 && (
        <details>
          <summary>{cleared.length} {cleared.length === 1 ? "thing" : "things"} looked at, and not the limit</summary>
          <ul class="cleared">{cleared.map((c) => <li>{c}</li>)}</ul>
        </details>
      )}
    </div>
  );
}

const upper = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
/** A message as a sentence; a name at its start, as of a service, stays as it is. */
const sentence = (text: string): string => `${/^(the|an?|in|of|with|all|no|other|limiter|backend-bound|proxy-bound|garbage|upstream|connections|answers|target)\b/.test(text) ? upper(text) : text}.`;

/** In how many of the trials that count it was the limit. */
function Often({ row }: { row: Row }) {
  const { n, of } = sameLimit(row);
  if (of < 2) return null;
  return <> {n === of ? `The same in ${of === 2 ? "both trials" : `all ${of} trials`} that count.` : `The same in ${n} of the ${of} trials that count.`}</>;
}

function Others({ trial }: { trial: Trial | undefined }) {
  const all = trial ? others(trial) : [];
  if (all.length === 0) return null;
  const shown = all.slice(0, 3).map((o) => `${o.name} in ${percent(o.held)}`).join(", ");
  return <p class="hint">The other {all.length === 1 ? "instance" : "instances"} held back: {shown}{all.length > 3 ? ` and ${all.length - 3} more` : ""} of the <Term of="periods" />.</p>;
}

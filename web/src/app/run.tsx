// One run, or an experiment with all its trials: the report, with what people
// added to it.

import { useMemo, useState } from "preact/hooks";
import { within } from "../data/load";
import { derive } from "../data/model";
import type { PageDocument } from "../data/types";
import { plural } from "../data/format";
import { Parts, SectionLinks } from "../report/page";
import { get, query, segment, text, type Whole } from "./api";
import { Heading, useTitle } from "./app";
import { Shown, useAct, useAsk } from "./load";
import { addNote, addTags, Ask, askRemove, remove, setName, takeTag, tagsIn, type Question } from "./marks";
import { titleOf } from "./pick";
import { go, Link } from "./router";
import { moment } from "./runs";

export function RunPage({ id }: { id: string }) {
  const whole = useAsk(`run ${id}`, (s) => get<Whole>(`/api/runs/${segment(id)}`, s));
  // The report holds what follows from the result, such as advice, in the same form.
  const report = useAsk(`report ${id}`, (s) => text(`/report/${segment(id)}`, s).then(within, () => undefined));
  return (
    <Shown of={whole} what="the run">
      {(w) => (
        <>
          <Around w={w} again={whole.again} />
          {w.result.error ? (
            <>
              <Heading title={titleOf(w.run)} />
              <div class="verdict invalid"><p class="word">no result</p><div><p>{w.result.error}</p></div></div>
            </>
          ) : !report.busy && <Body doc={{ page: 1, ...report.data, run: w.result, served: true }} of={w.run.id} />}
        </>
      )}
    </Shown>
  );
}

export function CampaignPage({ id }: { id: string }) {
  const report = useAsk(`campaign ${id}`, (s) => text(`/report/campaigns/${segment(id)}`, s).then(within));
  return (
    <>
      <div class="around-run">
        <Link to="/">All runs</Link>
        <Link to={query("/", { campaign: id })}>Its trials in the list</Link>
        <Link to={query("/compare", { campaign: id })}>Compare its variants</Link>
        <a href={`/report/campaigns/${segment(id)}`} download={`${id}.html`}>Report as one file</a>
      </div>
      <Shown of={report} what="the experiment">{(doc) => <Body doc={doc} of={id} />}</Shown>
    </>
  );
}

/** Of what: a tag or a note changes nothing in the report. */
function Body({ doc, of }: { doc: PageDocument; of: string }) {
  const shown = useMemo(() => derive(doc), [of]);
  useTitle(doc.experiment?.plan.question || doc.experiment?.plan.name || doc.run?.plan?.name || "Run");
  return (
    <div class="report">
      <div class="sections"><SectionLinks shown={shown} /></div>
      <Parts shown={shown} />
    </div>
  );
}

/** What belongs to a run beyond its result. */
function Around({ w, again }: { w: Whole; again: () => void }) {
  const r = w.run;
  const [question, ask] = useState<Question>();
  const { act, busy, said } = useAct();
  const then = (what: () => Promise<unknown>, done: string) => void act(async () => { await what(); again(); return done; });
  return (
    <aside class="around-run" aria-label="About this run">
      <Link to="/">All runs</Link>
      {r.campaign && <Link to={`/campaigns/${segment(r.campaign)}`}>The whole experiment</Link>}
      <Link to={query("/history", { experiment: r.experiment, variant: r.variant })}>History</Link>
      <a href={`/report/${segment(r.id)}`} download={`prony-${r.id}.html`}>Report as one file</a>
      <a href={`/api/runs/${segment(r.id)}/bundle`} download={`${r.id}.prony`}>Bundle</a>
      <p class="who">
        <strong>{r.name || r.id}</strong>{r.name ? ` ${r.id}` : ""}
        {r.variant ? ` · ${r.variant}` : ""}{r.number ? ` · trial ${r.number}` : ""}
        {r.baseline && <span class="tag">baseline</span>}
      </p>
      <ul class="tags" aria-label="Tags">
        {(r.tags ?? []).map((t) => (
          <li><button type="button" class="chip" disabled={busy} onClick={() => then(() => takeTag(r.id, t), `Took the tag ${t} away.`)}>{t} <span aria-hidden="true">×</span><span class="unseen">: take this tag away</span></button></li>
        ))}
        <li><button type="button" class="quiet" onClick={() => ask({ title: "Tag this run", label: "Tags, with spaces between", yes: "Tag", then: (t) => tagsIn(t).length > 0 && then(() => addTags(r.id, tagsIn(t)), "Tagged.") })}>Tag …</button></li>
        <li><button type="button" class="quiet" onClick={() => ask({ title: "Name this run", label: "Name; empty takes it away", value: r.name, yes: "Name", then: (t) => then(() => setName(r.id, t), "Named.") })}>Name …</button></li>
        <li><button type="button" class="quiet" onClick={() => ask({ title: "Write a note", label: "Note", long: true, yes: "Write", then: (t) => t && then(() => addNote(r.id, t), "Written.") })}>Note …</button></li>
        <li><button type="button" class="quiet" onClick={() => ask(askRemove([r], () => void act(async () => { await remove(r.id); go("/"); })))}>Delete …</button></li>
      </ul>
      {said}
      {w.notes.length > 0 && (
        <ul class="notes" aria-label={plural(w.notes.length, "note")}>
          {w.notes.map((n) => <li><time dateTime={n.written}>{moment(n.written)}</time> <span>{n.text}</span></li>)}
        </ul>
      )}
      {question && <Ask of={question} close={() => ask(undefined)} />}
    </aside>
  );
}


// The report, in the order in which a reader asks.

import { useEffect, useMemo, useState } from "preact/hooks";
import { derive, firstTrial, ran, type Shown } from "../data/model";
import type { PageDocument, Trial } from "../data/types";
import { Brand } from "../ui/parts";
import { ThemeButton } from "../ui/theme";
import { Advice, Again, Data, Goals } from "./again";
import { Answer } from "./answer";
import { Books, Runs } from "./books";
import { Findings } from "./findings";
import { Latency } from "./latency";
import { Machine } from "./machine";
import { Fairness, Surroundings } from "./surroundings";
import { Timeline } from "./timeline";
import { Variants } from "./variants";
import { Glossary } from "./words";

export function Report({ doc }: { doc: PageDocument }) {
  const shown = useMemo(() => derive(doc), [doc]);
  return (
    <>
      <Bar shown={shown} />
      <main id="content" tabIndex={-1}>
        <Parts shown={shown} />
      </main>
      <footer>
        <p>Made by Prony{doc.version ? ` ${doc.version}` : ""}, a dynamometer for HTTP services.</p>
      </footer>
    </>
  );
}

/** Everything of a report but the frame around it. */
export function Parts({ shown }: { shown: Shown }) {
  const [trial, setTrial] = useState<Trial | undefined>(() => firstTrial(shown));
  const choose = (t: Trial) => {
    setTrial(t);
    document.getElementById("trial")?.scrollIntoView();
  };
  const rest = useAfterPaint();
  const name = shown.experiment && trial ? `${trial.variant}, trial ${trial.number}. ` : "";
  return (
    <>
      <Answer shown={shown} />
      <Goals shown={shown} />
      {rest && <Rest shown={shown} trial={trial} setTrial={setTrial} choose={choose} name={name} />}
    </>
  );
}

/** False until the first screen is painted: the answer does not wait for the
 * charts. An address that names a section is followed once it is there. */
function useAfterPaint(): boolean {
  const [painted, set] = useState(false);
  useEffect(() => {
    const all = () => set(true);
    const timer = setTimeout(all, 0);
    addEventListener("beforeprint", all);
    return () => {
      clearTimeout(timer);
      removeEventListener("beforeprint", all);
    };
  }, []);
  useEffect(() => {
    if (painted && location.hash.length > 1) document.getElementById(location.hash.slice(1))?.scrollIntoView();
    if (painted) document.documentElement.dataset.whole = "true";
  }, [painted]);
  return painted;
}

interface RestOf {
  shown: Shown;
  trial: Trial | undefined;
  setTrial: (t: Trial) => void;
  choose: (t: Trial) => void;
  name: string;
}

function Rest({ shown, trial, setTrial, choose, name }: RestOf) {
  const experiment = shown.experiment !== undefined;
  return (
    <>
      {experiment && <Variants shown={shown} />}
      <Findings shown={shown} />
      {experiment && trial && <Choice shown={shown} trial={trial} set={setTrial} />}
      {trial && <Machine shown={shown} trial={trial} name={name} />}
      {trial && <Latency shown={shown} trial={trial} />}
      {trial && <Timeline trial={trial} name={name} />}
      {trial && <Books trial={trial} name={name} />}
      {experiment && <Runs shown={shown} choose={choose} chosen={trial} />}
      {experiment && <Fairness shown={shown} />}
      {trial && <Surroundings shown={shown} trial={trial} />}
      <Advice shown={shown} />
      {shown.trials[0] && <Again shown={shown} trial={trial ?? shown.trials[0]} />}
      <Glossary />
      <Data shown={shown} />
    </>
  );
}

/** Where the sections are. */
export function SectionLinks({ shown }: { shown: Shown }) {
  const detail = firstTrial(shown) !== undefined;
  const links: [string, string, boolean][] = [
    ["variants", "Variants", shown.experiment !== undefined],
    ["findings", "Findings", true],
    ["parts", "Services", detail],
    ["latency", "Response times", detail],
    ["time", "Over time", detail],
    ["runs", "Trials", shown.experiment !== undefined],
    ["machines", "Machines", detail],
    ["again", "Repeat it", true],
    ["words", "Words", true],
    ["data", "Data", true],
  ];
  return (
    <nav aria-label="Sections">
      <ul>{links.filter(([, , on]) => on).map(([id, text]) => <li><a href={`#${id}`}>{text}</a></li>)}</ul>
    </nav>
  );
}

function Bar({ shown }: { shown: Shown }) {
  return (
    <>
      <a class="skip" href="#content">Skip to the report</a>
      <div class="bar">
        <Brand />
        <SectionLinks shown={shown} />
        <ThemeButton />
      </div>
    </>
  );
}

/** Which trial the sections below show. */
function Choice({ shown, trial, set }: { shown: Shown; trial: Trial; set: (t: Trial) => void }) {
  const all = shown.trials.filter(ran);
  return (
    <div class="choice" id="trial">
      <label>
        One trial in detail:{" "}
        <select value={String(trial.number)} onChange={(e) => {
          const t = all.find((x) => String(x.number) === (e.currentTarget as HTMLSelectElement).value);
          if (t) set(t);
        }}>
          {shown.rows.map((r) => (
            <optgroup label={r.variant.name}>
              {r.trials.filter(ran).map((t) => <option value={String(t.number)}>{`trial ${t.number}, ${t.validity.verdict}${t === r.typical ? ", nearest to the median" : ""}`}</option>)}
            </optgroup>
          ))}
        </select>
      </label>
    </div>
  );
}

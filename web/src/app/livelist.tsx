// The experiments that this server started.

import { useEffect } from "preact/hooks";
import { plural } from "../data/format";
import { get, segment, type Live } from "./api";
import { Heading } from "./app";
import { Shown, useAsk } from "./load";
import { Link } from "./router";
import { moment } from "./runs";

const LOOK_AGAIN = 5000; // ms

export function LiveList({ allowed }: { allowed?: boolean }) {
  const list = useAsk("live", (s) => get<{ live: Live[] }>("/api/live", s));
  useEffect(() => {
    const timer = setInterval(list.again, LOOK_AGAIN);
    return () => clearInterval(timer);
  }, [list.again]);
  return (
    <>
      <Heading title="Live" />
      <p class="lead">Experiments that were started here. One runs at a time: two would disturb each other.</p>
      <Shown of={list} what="what runs">
        {({ live }) => (
          <>
            {live.length === 0 && (
              <div class="empty">
                <p>Nothing was started here since the server began.</p>
                {allowed === false ? <p>This server starts no experiments; <code>prony serve --allow-run</code> does. What <code>prony run</code> measures elsewhere appears among the <Link to="/">runs</Link>.</p> : <p><Link to="/new">Write an experiment</Link></p>}
              </div>
            )}
            <ul class="cards">
              {live.map((l) => (
                <li>
                  <p><span class={`state ${l.state}`}>{l.state === "running" ? "running" : l.error ? "ended early" : "done"}</span> <Link to={`/live/${segment(l.id)}`}>{l.name || l.id}</Link></p>
                  <p class="hint">started {moment(l.started)} UTC{l.state === "ended" ? `, ${plural(l.runs.length, "run")} kept` : ""}{l.error ? `: ${l.error}` : ""}</p>
                </li>
              ))}
            </ul>
          </>
        )}
      </Shown>
    </>
  );
}

// The frame around every page of prony serve, and which page an address means.

import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { Brand } from "../ui/parts";
import { ThemeButton } from "../ui/theme";
import { get, type Version } from "./api";
import { AuditPage } from "./audit";
import { ComparePage } from "./compare";
import { HistoryPage } from "./history";
import { LiveList } from "./livelist";
import { LivePage } from "./live";
import { useAsk } from "./load";
import { NewPage } from "./new";
import { Link, partsOf, usePlace, type Place } from "./router";
import { CampaignPage, RunPage } from "./run";
import { RunsPage } from "./runs";

export function App() {
  const place = usePlace();
  const version = useAsk("version", (s) => get<Version>("/api/version", s));
  return (
    <>
      <a class="skip" href="#content">Skip to the content</a>
      <Head place={place} />
      <main id="content" tabIndex={-1} class="app">{pageOf(place, version.data)}</main>
      <footer>
        <p>
          Prony{version.data ? ` ${version.data.version}, history in ${version.data.store}` : ""}. <a href="/api/openapi.json">The API of these pages</a>
        </p>
      </footer>
    </>
  );
}

const PLACES: [to: string, name: string, of: string[]][] = [
  ["/", "Runs", ["", "runs", "campaigns"]],
  ["/live", "Live", ["live"]],
  ["/compare", "Compare", ["compare"]],
  ["/history", "History", ["history"]],
  ["/new", "New", ["new"]],
  ["/audit", "Audit", ["audit"]],
];

function Head({ place }: { place: Place }) {
  const first = partsOf(place.path)[0] ?? "";
  return (
    <header class="bar">
      <Link to="/" aria-label="Prony: all runs"><Brand /></Link>
      <nav aria-label="Pages">
        <ul>{PLACES.map(([to, name, of]) => <li><Link to={to} current={of.includes(first)}>{name}</Link></li>)}</ul>
      </nav>
      <ThemeButton />
    </header>
  );
}

function pageOf(place: Place, version: Version | undefined): ComponentChildren {
  const [first = "", second] = partsOf(place.path);
  const q = place.query;
  switch (`${first}${second === undefined ? "" : "/"}`) {
    case "": return <RunsPage q={q} />;
    case "runs": return <RunsPage q={q} />;
    case "runs/": return <RunPage key={second} id={second!} />;
    case "campaigns/": return <CampaignPage key={second} id={second!} />;
    case "compare": return <ComparePage q={q} />;
    case "history": return <HistoryPage q={q} />;
    case "live": return <LiveList allowed={version?.allow_run} />;
    case "live/": return <LivePage key={second} id={second!} />;
    case "new": return <NewPage version={version} />;
    case "audit": return <AuditPage />;
  }
  return (
    <Page title="There is no such page">
      <p><Link to="/">All runs</Link></p>
    </Page>
  );
}

/** A page with its title, which is read out when one comes to it. */
export function Page({ title, lead, tools, children }: { title: string; lead?: ComponentChildren; tools?: ComponentChildren; children: ComponentChildren }) {
  return (
    <>
      <div class="page-head">
        <Heading title={title} />
        {tools}
      </div>
      {lead && <p class="lead">{lead}</p>}
      {children}
    </>
  );
}

export function Heading({ title }: { title: string }) {
  const h1 = useRef<HTMLHeadingElement>(null);
  useTitle(title);
  useEffect(() => {
    if (moved) h1.current?.focus({ preventScroll: true });
    moved = true;
  }, []);
  return <h1 ref={h1} tabIndex={-1}>{title}</h1>;
}

/** The first page that is shown leaves the focus where the browser has it. */
let moved = false;

export function useTitle(title: string): void {
  useEffect(() => { document.title = `${title} · Prony`; }, [title]);
}

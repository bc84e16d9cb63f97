// Where one is: the path and the query of the address. Links change it without
// loading the page anew; the server answers every path with the same page.

import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";

export interface Place {
  path: string;
  query: URLSearchParams;
}

const here = (): string => location.pathname + location.search;

const followers = new Set<() => void>();

/** Goes to a place of these pages. In place of the present one, if it only says
 * the same more exactly. */
export function go(to: string, instead = false): void {
  if (to !== here()) history[instead ? "replaceState" : "pushState"](null, "", to);
  followers.forEach((f) => f());
  if (!instead) scrollTo(0, 0);
}

export function usePlace(): Place {
  const [at, set] = useState(here);
  useEffect(() => {
    const moved = () => set(here());
    followers.add(moved);
    addEventListener("popstate", moved);
    return () => {
      followers.delete(moved);
      removeEventListener("popstate", moved);
    };
  }, []);
  const [path, rest] = split(at);
  return { path, query: new URLSearchParams(rest) };
}

function split(at: string): [string, string] {
  const i = at.indexOf("?");
  return i < 0 ? [at, ""] : [at.slice(0, i), at.slice(i + 1)];
}

/** The parts of a path, decoded; a part that is no text is left as it is. */
export function partsOf(path: string): string[] {
  return path.split("/").filter(Boolean).map((p) => {
    try {
      return decodeURIComponent(p);
    } catch {
      return p;
    }
  });
}

export function Link({ to, children, current, ...more }: { to: string; children: ComponentChildren; current?: boolean; class?: string; "aria-label"?: string }) {
  const follow = (e: MouseEvent) => {
    if (e.button !== 0 || e.metaKey || e.ctrlKey || e.shiftKey || e.altKey) return; // another tab or window
    e.preventDefault();
    go(to);
  };
  return <a href={to} onClick={follow} aria-current={current ? "page" : undefined} {...more}>{children}</a>;
}

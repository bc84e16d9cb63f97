// Light, dark or as the system says. Charts on a canvas are drawn again when it
// changes; print is always light.

import { createContext } from "preact";
import { useContext, useEffect, useState } from "preact/hooks";
import type { ComponentChildren } from "preact";

type Choice = "light" | "dark";

const Theme = createContext<{ theme: Choice; set: (t: Choice) => void }>({ theme: "light", set: () => {} });

export const useTheme = () => useContext(Theme).theme;

const system = (): Choice => (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");

export function ThemeProvider({ children }: { children: ComponentChildren }) {
  const [chosen, set] = useState<Choice>();
  const [bySystem, setSystem] = useState(system);
  const [printing, setPrinting] = useState(false);
  useEffect(() => {
    const dark = matchMedia("(prefers-color-scheme: dark)");
    const print = matchMedia("print");
    const changed = () => setSystem(system());
    const printed = () => setPrinting(print.matches);
    dark.addEventListener("change", changed);
    print.addEventListener("change", printed);
    return () => {
      dark.removeEventListener("change", changed);
      print.removeEventListener("change", printed);
    };
  }, []);
  const theme = printing ? "light" : (chosen ?? bySystem);
  document.documentElement.dataset.theme = theme;
  return <Theme.Provider value={{ theme, set }}>{children}</Theme.Provider>;
}

export function ThemeButton() {
  const { theme, set } = useContext(Theme);
  const other = theme === "dark" ? "light" : "dark";
  return (
    <button type="button" class="quiet" aria-label={`Switch to ${other} colours`} onClick={() => set(other)}>
      <svg width="16" height="16" viewBox="0 0 16 16" aria-hidden="true">
        <circle cx="8" cy="8" r="6.5" fill="none" stroke="currentColor" stroke-width="1.5" />
        <path d="M8 1.5a6.5 6.5 0 0 1 0 13z" fill="currentColor" />
      </svg>
      <span class="wide-only">{other === "dark" ? "Dark" : "Light"}</span>
    </button>
  );
}

/** The value of a custom property, for what is drawn on a canvas. */
export const colour = (name: string): string => getComputedStyle(document.documentElement).getPropertyValue(name).trim() || "#888";

/** Colours of series, by place: after Okabe and Ito (2008), safe for colour-blind
 * readers, each with a lighter twin for dark pages. */
export const SERIES = 8;
export const seriesColour = (i: number): string => `--series-${(i % SERIES) + 1}`;

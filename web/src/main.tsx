// The page: a report when a result is inside it.

import { render } from "preact";
import { inline } from "./data/load";
import type { PageDocument } from "./data/types";
import { Report } from "./report/page";
import "./ui/page.css";
import { ThemeProvider } from "./ui/theme";

function Broken({ why }: { why: string }) {
  return (
    <main id="content">
      <h1>This report cannot be shown</h1>
      <p>{why}</p>
    </main>
  );
}

function read(): { doc?: PageDocument; why: string } {
  try {
    return { doc: inline(), why: "" };
  } catch (e) {
    return { why: e instanceof Error ? e.message : String(e) };
  }
}

const place = document.getElementById("page");
if (place) {
  const { doc, why } = read();
  render(<ThemeProvider>{doc ? <Report doc={doc} /> : <Broken why={why} />}</ThemeProvider>, place);
}

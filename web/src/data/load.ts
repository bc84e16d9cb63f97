// Where the document comes from: the JSON inside the page.

import type { PageDocument } from "./types";

export const RAW_ID = "prony-data";

export function raw(): string {
  return document.getElementById(RAW_ID)?.textContent ?? "";
}

/** The document inside the page. It throws a readable Error where there is none. */
export const inline = (): PageDocument => parse(raw());

/** The document inside the text of a report. It is cut out, not parsed as a page:
 * the data holds no "<", so that it ends where its element does. */
export function within(page: string): PageDocument {
  const start = `<script type="application/json" id="${RAW_ID}">`;
  const from = page.indexOf(start);
  const to = page.indexOf("</script>", from);
  if (from < 0 || to < 0) throw new Error("the report holds no result");
  return { ...parse(page.slice(from + start.length, to)), served: true };
}

function parse(text: string): PageDocument {
  if (!text.trim()) throw new Error("this page holds no result");
  const doc = JSON.parse(text) as PageDocument;
  if (doc.page !== 1) throw new Error(`this page's data has version ${String(doc.page)}, which is newer than the page`);
  if (!doc.run && !doc.experiment) throw new Error("this page holds neither a run nor an experiment");
  return doc;
}

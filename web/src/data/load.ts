// Where the document comes from: the JSON inside the page.

import type { PageDocument } from "./types";

export const RAW_ID = "prony-data";

export function raw(): string {
  return document.getElementById(RAW_ID)?.textContent ?? "";
}

/** The document inside the page. It throws a readable Error where there is none. */
export function inline(): PageDocument {
  const text = raw().trim();
  if (!text) throw new Error("this page holds no result");
  const doc = JSON.parse(text) as PageDocument;
  if (doc.page !== 1) throw new Error(`this page's data has version ${String(doc.page)}, which is newer than the page`);
  if (!doc.run && !doc.experiment) throw new Error("this page holds neither a run nor an experiment");
  return doc;
}

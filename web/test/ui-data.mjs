// Fills a history for the tests and screenshots of the pages: the fixtures of
// internal/web, and a history with a change in it.
import { readFileSync } from "node:fs";
import { join } from "node:path";

const day = 86_400_000;

async function put(base, value) {
  const r = await fetch(`${base}/api/import`, { method: "POST", headers: { "X-Prony": "1", "Content-Type": "application/octet-stream" }, body: JSON.stringify(value) });
  if (!r.ok) throw new Error(`import: ${r.status} ${await r.text()}`);
  return (await r.json()).runs;
}

/** Runs of one work, one a day; the rate falls by 12 % after two thirds of them. */
function historyOf(run, n) {
  return Array.from({ length: n }, (_, i) => {
    const one = structuredClone(run);
    one.started = new Date(Date.parse(run.started) - (n - i) * day).toISOString();
    one.plan.name = "nightly";
    one.load.rate = 13_000 * (i < (n * 2) / 3 ? 1 : 0.88) * (1 + 0.006 * (((i * 7) % 5) - 2));
    return one;
  });
}

/** Puts everything there, and returns the ids by what they are. */
export async function fill(base, fixtures) {
  const read = (name) => JSON.parse(readFileSync(join(fixtures, `${name}.json`), "utf8"));
  const ids = {};
  ids.nightly = [];
  for (const one of historyOf(read("run-valid"), 24)) ids.nightly.push(...(await put(base, one)));
  for (const name of ["run-invalid", "run-unstable", "run-valid", "run-suspect"]) ids[name] = (await put(base, read(name)))[0];
  for (const name of ["hostile", "experiment-sweep", "experiment"]) {
    const e = read(name);
    e.id = name; // the history takes no other text for it
    e.trials.forEach((t, i) => { t.started = new Date(Date.parse(t.started || "2026-11-30T12:00:00Z") + (name === "experiment" ? 2 : 1) * 3_600_000 + i * 40_000).toISOString(); });
    ids[name] = await put(base, e).catch((err) => { ids.refused = [...(ids.refused ?? []), `${name}: ${err.message}`]; return []; });
  }
  return ids;
}

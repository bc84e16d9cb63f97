// Screenshots of every page of prony serve, for shots.mjs: of a server that runs,
// as it is, or of one of its own with fixtures and a small experiment. ONLY names
// pages, with commas between.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { DESKTOP, launch, PHONE } from "./browser.mjs";
import { fill } from "./ui-data.mjs";
import { start } from "./ui-server.mjs";

export const SMALL = `prony: 1
name: two-targets
question: Which of two targets is faster?
services:
  app:
    catalog: go-http
load:
  target: app
  connections: 8
  duration: 4s
  warmup: 1s
vary:
  load.connections: [4, 8]
repeat: 2
`;

export async function begin(base, experiment) {
  const r = await fetch(`${base}/api/runs`, { method: "POST", headers: { "X-Prony": "1", "Content-Type": "application/json" }, body: JSON.stringify({ experiment }) });
  if (!r.ok) throw new Error(`start: ${r.status} ${await r.text()}`);
  return (await r.json()).id;
}

export const WRK = `$ wrk -t4 -c128 -d30s --latency http://127.0.0.1:8080/hello
Running 30s test @ http://127.0.0.1:8080/hello
  4 threads and 128 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency    18.57ms   12.21ms 201.31ms   88.21%
    Req/Sec     6.50k   612.00     8.11k    71.00%
  Latency Distribution
     50%   15.01ms
     75%   21.11ms
     90%   30.52ms
     99%   71.90ms
  775431 requests in 30.05s, 98.34MB read
Requests/sec:  25804.69
Transfer/sec:      3.27MB
`;

/** Pictures of every page, of a server that runs or of one with fixtures. */
export async function pictures(out, given) {
  mkdirSync(out, { recursive: true });
  const server = given ? undefined : await start();
  const base = given ?? server.base;
  const ids = server ? await fill(base, server.fixtures) : {};
  const get = async (path) => (await fetch(base + path)).json();
  const runs = (await get("/api/runs?limit=100")).runs;
  const campaign = runs.find((r) => r.campaign && r.verdict)?.campaign;
  const subject = (await get("/api/experiments")).experiments.sort((a, b) => b.runs - a.runs)[0];
  const run = ids["run-suspect"] ?? runs.find((r) => !r.error)?.id;
  const live = server ? await begin(base, SMALL) : (await get("/api/live")).live[0]?.id;
  if (server) await new Promise((r) => setTimeout(r, 7000));
  const pages = {
    live: live && `/live/${live}`,
    runs: "/",
    run: run && `/runs/${run}`,
    campaign: campaign && `/campaigns/${campaign}`,
    compare: campaign && `/compare?campaign=${campaign}`,
    history: subject && `/history?${new URLSearchParams({ experiment: subject.experiment, variant: subject.variant ?? "" })}`,
    new: "/new",
    audit: "/audit",
  };
  const browser = await launch();
  for (const [name, path] of Object.entries(pages)) {
    if (!path || (process.env.ONLY && !process.env.ONLY.split(",").includes(name))) continue;
    for (const [look, options] of Object.entries({ desktop: { viewport: DESKTOP }, dark: { viewport: DESKTOP, colorScheme: "dark" }, phone: { viewport: PHONE, deviceScaleFactor: 2 } })) {
      const context = await browser.newContext({ ...options, reducedMotion: "reduce" });
      const page = await context.newPage();
      await page.goto(base + path);
      await page.waitForSelector("main h1");
      await before(page, name);
      await page.waitForTimeout(700);
      await page.screenshot({ path: join(out, `${name}-${look}.png`) });
      if (look === "desktop" && name !== "run" && name !== "campaign") await page.screenshot({ path: join(out, `${name}-whole.png`), fullPage: true });
      await context.close();
    }
  }
  await browser.close();
  await server?.close();
}

/** What is done before the picture is taken. */
async function before(page, name) {
  if (name === "audit") {
    await page.getByLabel("Output").fill(WRK);
    await page.getByRole("button", { name: "Audit", exact: true }).click();
    await page.waitForSelector("#audited");
  }
  if (name === "runs") await page.waitForSelector(".list tbody tr, .empty");
  if (name === "compare") await page.waitForSelector("#curves figure");
  if (name === "run" || name === "campaign") await page.waitForSelector("#data");
  if (name === "history") await page.waitForSelector("#baseline");
  if (name === "live") await page.waitForSelector(".standing, .verdict");
  if (name === "new") await page.waitForSelector(".plan, .mistakes");
}

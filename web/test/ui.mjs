// Tests of the pages of prony serve in a real Chromium, against a real server with
// fixtures in its history and real experiments.
// Usage: [ONLY=text] [PRONY=binary] [FIXTURES=dir] node test/ui.mjs
// Exit status 0 when everything holds, 1 when something does not.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { DESKTOP, launch, PHONE } from "./browser.mjs";
import { fill } from "./ui-data.mjs";
import { serve, start } from "./ui-server.mjs";
import { begin, SMALL, WRK } from "./ui-shots.mjs";

const axeSource = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const server = await start();
const base = server.base;
const ids = await fill(base, server.fixtures);
const browser = await launch();
let failures = 0;

async function check(name, body) {
  if (process.env.ONLY && !name.includes(process.env.ONLY)) return;
  try {
    await body();
    console.log(`ok    ${name}`);
  } catch (e) {
    failures++;
    console.log(`FAIL  ${name}: ${e.message}`);
  }
}

function want(holds, what) {
  if (!holds) throw new Error(what);
}

/** Opens a page, runs the body, and demands that it asked nobody else, said
 * nothing on the console, and ran nothing that came from data. A status that is
 * expected is not held against it. */
async function on(path, options, body, { at = base, expected = /^$/ } = {}) {
  const context = await browser.newContext({ viewport: DESKTOP, acceptDownloads: true, reducedMotion: "reduce", ...options });
  const page = await context.newPage();
  const problems = [];
  const machine = /ERR_NETWORK_CHANGED/; // the machine's interfaces changed: the page asks again
  page.on("console", (m) => !machine.test(m.text()) && (m.type() === "error" || m.type() === "warning") && !expected.test(m.text()) && problems.push(`console: ${m.text()}`));
  page.on("pageerror", (e) => problems.push(`error: ${e.message}`));
  page.on("dialog", (d) => { problems.push(`dialog: ${d.message()}`); d.dismiss(); });
  page.on("request", (r) => !r.url().startsWith(`${at}/`) && !/^(blob|data):/.test(r.url()) && problems.push(`request: ${r.url()}`));
  page.setDefaultTimeout(15_000);
  try {
    await page.goto(at + path);
    await page.waitForSelector("main h1");
    await body(page);
    want((await page.evaluate(() => window.pwned)) === undefined, "something from data ran");
    want(problems.length === 0, problems.slice(0, 3).join("; "));
  } finally {
    await context.close();
  }
}

async function seriousFindings(page) {
  // The policy of the page allows no script from elsewhere; the test's own is run by the browser's tools.
  const client = await page.context().newCDPSession(page);
  await client.send("Runtime.evaluate", { expression: axeSource });
  const found = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
  return found.violations.filter((v) => v.impact === "serious" || v.impact === "critical").map((v) => `${v.id} (${v.nodes.length}): ${v.nodes[0].html.slice(0, 160)} ${v.nodes[0].failureSummary?.split("\n")[1] ?? ""}`);
}

const text = (page) => page.locator("main").innerText();
const rows = (page) => page.locator(".list tbody tr");
const campaign = "experiment";
const [a, b] = ids.nightly;

const PAGES = {
  runs: ["/", ".list tbody tr"],
  run: [`/runs/${ids["run-suspect"]}`, "#data"],
  campaign: [`/campaigns/${campaign}`, "#data"],
  "compare, variants": [`/compare?campaign=${campaign}`, "#curves figure"],
  "compare, runs": [`/compare?side=${ids.nightly.slice(0, 6)}&side=${ids.nightly.slice(18)}`, "#curves figure"],
  "compare, nothing": ["/compare", "#campaigns"],
  history: ["/history?experiment=nightly", "#points"],
  "live, list": ["/live", ".empty, .cards li"],
  new: ["/new", ".plan"],
  audit: ["/audit", "#import"],
  "hostile list": ["/?text=pwned", ".list tbody tr"],
  "hostile run": [`/runs/${ids.hostile?.[0]}`, "#data"],
  "hostile campaign": ["/campaigns/hostile", "#data"],
  "hostile compare": ["/compare?campaign=hostile", ".verdict, .problem"],
};
for (const [name, [path, ready]] of Object.entries(PAGES)) {
  for (const [look, options] of Object.entries({ light: {}, dark: { colorScheme: "dark" }, phone: { viewport: PHONE } })) {
    await check(`${name}, ${look}: no problem, nothing outside, accessible`, () =>
      on(path, options, async (page) => {
        await page.waitForSelector(ready);
        await page.waitForTimeout(200);
        await page.evaluate(() => document.querySelectorAll("details").forEach((d) => (d.open = true)));
        await page.waitForTimeout(100);
        const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        want(wide <= 0, `the page is ${wide} pixels wider than the screen`);
        want((await page.locator("h1").count()) === 1, "there is not one title");
        want((await page.locator("main img, a[href^='javascript']").count()) === 0, "an element came from data");
        if (name.startsWith("hostile") && look !== "light") return; // axe takes long, and they are the same elements
        const found = await seriousFindings(page);
        want(found.length === 0, found.join(" | "));
      }, { expected: name === "hostile compare" ? /422|409/ : undefined }));
  }
}

await check("runs: filters are in the address and come back with it", () =>
  on("/", {}, async (page) => {
    await page.waitForSelector(".list tbody tr");
    await page.getByLabel("Verdict").selectOption("invalid");
    await page.waitForURL(/verdict=invalid/);
    await page.waitForFunction(() => [...document.querySelectorAll(".list tbody .badge")].every((b) => /invalid|failed/.test(b.textContent)));
    await page.getByLabel("Search").fill("instances");
    await page.waitForURL(/text=instances/);
    await page.waitForFunction(() => document.querySelectorAll(".list tbody tr").length === 1);
    await page.reload();
    await page.waitForSelector(".list tbody tr");
    want((await page.getByLabel("Verdict").inputValue()) === "invalid" && (await page.getByLabel("Search").inputValue()) === "instances", "they are lost");
    await page.getByRole("button", { name: "Clear the filter" }).click();
    await page.waitForFunction(() => document.querySelectorAll(".list tbody tr").length === 50);
    await page.getByLabel("Search").fill("no such thing");
    await page.waitForSelector(".empty");
    want(/No run fits/.test(await text(page)), "an empty list is not explained");
  }));

await check("runs: pages, and choosing across them", () =>
  on("/", {}, async (page) => {
    await page.waitForSelector(".list tbody tr");
    want((await rows(page).count()) === 50, "a page has not 50 rows");
    await rows(page).first().getByRole("checkbox").check();
    const first = await rows(page).first().innerText();
    await page.getByRole("button", { name: "Older runs" }).click();
    await page.waitForURL(/after=/);
    await page.waitForFunction((t) => document.querySelector(".list tbody tr").innerText !== t, first);
    await rows(page).nth(1).getByRole("checkbox").check();
    want(/2 chosen/.test(await page.locator(".chosen-bar").innerText()), "the first choice is lost");
    await page.getByRole("button", { name: "Back" }).click();
    await page.waitForFunction((t) => document.querySelector(".list tbody tr").innerText === t, first);
    want(await rows(page).first().getByRole("checkbox").isChecked(), "it is no longer ticked");
    await page.getByRole("button", { name: "Compare", exact: true }).click();
    await page.waitForURL(/compare\?side=/);
    await page.waitForSelector(".verdict, .problem");
  }, { expected: /422|409/ }));

await check("runs: by the keyboard alone, from the list to a run and back", () =>
  on("/", {}, async (page) => {
    await page.waitForSelector(".list tbody tr");
    await page.keyboard.press("Tab");
    want((await page.evaluate(() => document.activeElement.textContent)) === "Skip to the content", "the first stop is not the skip link");
    await page.keyboard.press("Enter");
    want(await page.evaluate(() => document.activeElement.id === "content"), "it does not lead to the content");
    for (let i = 0; i < 30; i++) {
      await page.keyboard.press("Tab");
      if (await page.evaluate(() => document.activeElement.matches(".list tbody tr:first-child th a"))) break;
    }
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/runs\//);
    await page.waitForSelector(".answer");
    await page.goBack();
    await page.waitForSelector(".list tbody tr");
  }));

await check("runs: tag, name, note, take the tag away, delete", () =>
  on(`/runs/${b}`, {}, async (page) => {
    await page.waitForSelector(".answer");
    const ask = async (button, label, value, yes) => {
      await page.getByRole("button", { name: button }).click();
      await page.getByRole("dialog").getByLabel(label).fill(value);
      await page.keyboard.press(label === "Note" ? "Tab" : "Enter");
      if (label === "Note") await page.keyboard.press("Enter");
      await page.waitForSelector("dialog", { state: "detached" });
      await page.waitForFunction(() => document.activeElement.tagName === "BUTTON", undefined, { timeout: 3000 }).catch(() => want(false, `the focus is lost after ${yes}`));
    };
    await ask("Tag …", /Tags/, "release <script>window.pwned=1</script>".split(" ")[0], "Tag");
    await page.getByText("release", { exact: false }).first().waitFor();
    await ask("Name …", /Name/, "the-named-one", "Name");
    await page.getByText("the-named-one").first().waitFor();
    await ask("Note …", "Note", "<img src=x onerror=window.pwned=1>", "Write");
    await page.locator(".notes", { hasText: "<img src=x" }).waitFor();
    await page.getByRole("button", { name: /release.*take this tag away/ }).click();
    await page.waitForFunction(() => !document.querySelector(".tags").textContent.includes("release"));
    await page.getByRole("button", { name: "Delete …" }).click();
    await page.keyboard.press("Escape");
    await page.waitForSelector("dialog", { state: "detached" });
    await page.getByRole("button", { name: "Delete …" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await page.waitForURL(`${base}/`);
    await page.waitForSelector(".list tbody tr");
    want((await fetch(`${base}/api/runs/${b}`)).status === 404, "it is still there");
  }));

await check("errors: in words, with a way on", async () => {
  await on("/", {}, async (page) => {
    await page.waitForSelector(".list tbody tr");
    await page.goto(`${base}/runs/0000000000`);
    await page.waitForSelector(".problem");
    want(/Not found/.test(await page.locator(".problem").innerText()), "a missing run is not said to be missing");
    want((await page.getByRole("button", { name: "Try again" }).count()) === 1, "there is no way on");
    await page.goto(`${base}/no/such/page`);
    await page.getByText("There is no such page").waitFor();
  }, { expected: /404/ }).catch((e) => { if (!/waiting for locator\("main h1"\)/.test(e.message)) throw e; });
  await on("/", {}, async (page) => {
    await page.waitForSelector(".list tbody tr");
    await page.route("**/api/history*", (r) => r.abort());
    await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "History" }).click();
    await page.getByText("The server does not answer").waitFor();
    await page.unroute("**/api/history*");
    await page.getByRole("button", { name: "Try again" }).click();
    await page.waitForSelector("#points");
  }, { expected: /ERR_FAILED/ });
});

await check("a run: the report, and what belongs to it", () =>
  on(`/runs/${ids["run-suspect"]}`, {}, async (page) => {
    await page.waitForSelector("#data");
    const all = await text(page);
    for (const w of ["What limits it", "Response time by percentile", "Worst seconds", "Findings", "What was expected"]) want(all.includes(w), `${w} is missing`);
    want((await page.locator(".u-wrap canvas").count()) >= 12, "there are too few charts over time");
    const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("link", { name: "Bundle" }).click()]);
    want(readFileSync(await file.path()).subarray(0, 2).toString() === "PK", "the bundle is none");
    const [html] = await Promise.all([page.waitForEvent("download"), page.getByRole("link", { name: "Report as one file" }).click()]);
    want(readFileSync(await html.path(), "utf8").includes("prony-data"), "the report is none");
  }));

await check("an experiment: the report of all its trials", () =>
  on(`/campaigns/${campaign}`, {}, async (page) => {
    await page.waitForSelector("#data");
    const all = await text(page);
    for (const w of ["Does adding instances behind nginx scale?", "Scaling with instances", "Every trial", "Against the baseline"]) want(all.includes(w), `${w} is missing`);
    want((await page.locator("#runs tbody tr").count()) === 24, "not every run is listed");
  }));

await check("compare: runs as sides, curves, ratios, another baseline", () =>
  on(`/compare?side=${ids.nightly.slice(3, 10)}&side=${ids.nightly.slice(17)}`, {}, async (page) => {
    await page.waitForSelector("#curves figure");
    const before = await text(page);
    for (const w of ["Ratios to the baseline", "decides", "Response time by percentile", "worse"]) want(before.includes(w), `${w} is missing`);
    want((await page.locator("#curves svg path[stroke-width='2']").count()) === 2, "there are not two curves");
    await page.getByRole("button", { name: /make it the baseline/ }).click();
    await page.waitForFunction(() => /better/i.test(document.querySelector(".verdict .word")?.textContent ?? ""));
  }));

await check("history: the change, its levels, and a baseline", () =>
  on("/history?experiment=nightly", {}, async (page) => {
    await page.waitForSelector("#points");
    want(/change was −1[0-9.]+%, for the worse/.test(await text(page)), `the change is not told: ${await page.locator(".sentence").innerText()}`);
    want((await page.locator("#levels tbody tr").count()) === 2, "there are not two levels");
    await page.getByRole("button", { name: /newest level the baseline/ }).click();
    await page.getByText("Against the baseline").waitFor();
    await page.getByRole("button", { name: "Take the baseline away" }).click();
    await page.getByText("None: later runs").waitFor();
    await page.getByLabel("Metric").selectOption("p99");
    await page.waitForURL(/metric=p99/);
    await page.getByText("lower is better").first().waitFor();
  }));

await check("editor: suggestions by the keyboard, mistakes with their places, the plan", () =>
  on("/new", {}, async (page) => {
    await page.waitForSelector(".plan");
    const area = page.getByLabel("Experiment file (YAML)");
    await area.fill("");
    await area.focus();
    await page.keyboard.type("prony: 1");
    await page.keyboard.press("Escape");
    await page.keyboard.press("Enter");
    await page.keyboard.type("serv");
    await page.getByRole("option", { name: /services/ }).waitFor();
    want((await area.getAttribute("aria-activedescendant")) !== null, "the suggestion is not announced");
    const found = await seriousFindings(page);
    want(found.length === 0, found.join(" | "));
    await page.keyboard.press("Enter");
    want((await area.inputValue()) === "prony: 1\nservices: ", `the text is ${JSON.stringify(await area.inputValue())}`);
    await area.fill("prony: 1\nname: x\nservices:\n  app: {catalog: hello}\nlod:\n  target: app\n");
    const link = page.getByRole("button", { name: "line 5, column 1" });
    await link.waitFor();
    want(/Did you mean load/.test(await page.locator(".mistakes").innerText()), "the right word is not offered");
    want(await page.getByRole("button", { name: "Start" }).isDisabled(), "it could be started");
    await link.click();
    want((await area.evaluate((t) => t.selectionStart)) === "prony: 1\nname: x\nservices:\n  app: {catalog: hello}\n".length, "the cursor is elsewhere");
    want((await page.locator(".gutter .wrong").allInnerTexts()).includes("5"), "the line is not marked");
    await area.fill(SMALL);
    await page.waitForSelector(".plan");
    want(/4 trials/.test(await page.locator(".beside").innerText()), "the plan is missing");
    await area.focus();
    await page.keyboard.press("Tab");
    want(await page.evaluate(() => document.activeElement.tagName !== "TEXTAREA"), "Tab does not leave the field");
    await page.reload();
    await page.waitForSelector(".plan");
    want((await area.inputValue()) === SMALL, "the draft is lost by a reload");
  }));

await check("audit: pasted output, what is wrong with it, and nothing recognised", () =>
  on("/audit", {}, async (page) => {
    const audit = page.getByRole("button", { name: "Audit", exact: true });
    want(await audit.isDisabled(), "nothing could be audited");
    await page.getByLabel("Output").fill(WRK);
    await audit.press("Enter");
    await page.waitForSelector("#audited");
    const said = await page.locator("#audited").innerText();
    for (const w of ["SUSPECT", "25,805", "requests in flight", "E1"]) want(said.includes(w), `${w} is missing: ${said.slice(0, 300)}`);
    want(await page.evaluate(() => document.activeElement.id === "audited"), "the focus does not go to the answer");
    await page.locator("#audit input[type=file]").setInputFiles({ name: "x.txt", mimeType: "text/plain", buffer: Buffer.from("<script>window.pwned=1</script>") });
    await page.waitForFunction(() => document.querySelector("#audit textarea").value.includes("pwned"));
    await audit.click();
    await page.getByText("no result was recognised").waitFor();
  }, { expected: /422/ }));

await check("import: a bundle, again, and what is none", () =>
  on("/audit", {}, async (page) => {
    const bundle = Buffer.from(await (await fetch(`${base}/api/runs/${a}/bundle`)).arrayBuffer());
    const put = (name, buffer) => page.locator("#import input[type=file]").setInputFiles({ name, mimeType: "application/octet-stream", buffer });
    await put("run.prony", bundle);
    await page.getByText("1 run in the history now").waitFor();
    await put("run.prony", bundle);
    await page.getByRole("link", { name: a }).waitFor();
    await put("bad.prony", Buffer.from("PK no bundle"));
    await page.getByText(/bad\.prony: /).waitFor();
  }, { expected: /422|400/ }));

await check("live: started from the editor, it updates while it runs, comes back after a break, and leads to the report", () =>
  on("/new", {}, async (page) => {
    const area = page.getByLabel("Experiment file (YAML)");
    await area.fill(SMALL);
    await page.waitForFunction(() => /4 trials/.test(document.querySelector(".beside").innerText));
    await page.getByRole("button", { name: "Start" }).press("Enter");
    await page.waitForURL(/\/live\//);
    await page.getByText("Trial 1 of 4").waitFor({ timeout: 60_000 });
    await page.waitForSelector("#load .u-wrap", { timeout: 60_000 });
    const value = () => page.locator("progress").evaluate((p) => p.value);
    const one = await value();
    await page.waitForFunction((v) => document.querySelector("progress")?.value > v, one, { timeout: 30_000 });
    const rate = await page.locator("#load .latencies").innerText();
    await page.waitForFunction((t) => document.querySelector("#load .latencies")?.innerText !== t, rate, { timeout: 30_000 });
    await page.locator("#machines", { hasText: "app" }).waitFor({ timeout: 30_000 });
    const found = await seriousFindings(page);
    want(found.length === 0, found.join(" | "));
    await page.context().setOffline(true);
    await page.waitForTimeout(1500);
    await page.context().setOffline(false);
    await page.getByText("Trial 2 of 4").waitFor({ timeout: 60_000 });
    await page.locator("#findings li, #trials tbody tr").first().waitFor({ timeout: 60_000 });
    const again = await fetch(`${base}/api/runs`, { method: "POST", headers: { "X-Prony": "1", "Content-Type": "application/json" }, body: JSON.stringify({ experiment: SMALL }) });
    want(again.status === 409, `a second one is answered with ${again.status}`);
    await page.locator(".verdict .word", { hasText: "done" }).waitFor({ timeout: 120_000 });
    want(/4 runs kept/.test(await text(page)), "the runs are not counted");
    want((await page.locator("#trials tbody tr").count()) === 4, "not every trial is listed");
    await page.getByRole("link", { name: "See the report" }).click();
    await page.waitForSelector("#data");
    want((await page.locator("#runs tbody tr").count()) === 4, "the report lacks trials");
  }, { expected: /ERR_INTERNET_DISCONNECTED|ERR_NETWORK/ }));

await check("live: it can be stopped", async () => {
  const id = await begin(base, SMALL);
  await on(`/live/${id}`, {}, async (page) => {
    await page.getByText("Trial 1 of 4").waitFor({ timeout: 60_000 });
    await page.getByRole("button", { name: "Stop" }).press("Enter");
    await page.locator(".verdict .word", { hasText: "ended early" }).waitFor({ timeout: 60_000 });
    want(/interrupted/.test(await text(page)), "it is not told why");
  });
});

await check("a server that allows no runs says how", async () => {
  const other = await serve(server.prony, join(server.dir, "other.db"), server.dir);
  try {
    await on("/", {}, async (page) => {
      await page.getByText("No run is kept yet").waitFor();
      await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "New" }).click();
      await page.getByText("This server starts no experiments").waitFor();
      want((await page.getByRole("button", { name: "Start" }).count()) === 0, "there is a button to start");
      await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "History" }).click();
      await page.getByText("No run is kept yet").waitFor();
      const found = await seriousFindings(page);
      want(found.length === 0, found.join(" | "));
    }, { at: other.base });
  } finally {
    await other.stop();
  }
});

await browser.close();
await server.close();
if (ids.refused) console.log(`refused by the history: ${ids.refused.join("; ").slice(0, 300)}`);
console.log(failures ? `${failures} failed` : "all good");
process.exit(failures ? 1 : 0);

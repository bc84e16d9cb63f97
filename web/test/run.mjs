// Tests of the report in a real Chromium, on files made by
//   go test ./internal/web -run TestFixtures -fixtures DIR
// Usage: [ONLY=text] node test/run.mjs [DIR]   (without DIR it makes the files itself;
// ONLY leaves out the checks whose names lack the text)
// Exit status 0 when everything holds, 1 when something does not.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { launch, open, PHONE } from "./browser.mjs";

const axeSource = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const given = process.argv[2];
const dir = given ? resolve(given) : mkdtempSync(join(tmpdir(), "prony-web-"));
if (!given) execFileSync("go", ["test", "-count=1", "./internal/web", "-run", "^TestFixtures$", "-fixtures", dir], { cwd: resolve(import.meta.dirname, "../.."), stdio: "inherit" });

let failures = 0;
const address = (name) => pathToFileURL(join(dir, `${name}.html`)).href;
const browser = await launch();

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

/** Opens a fixture, runs the body, and demands that the page had no problem. */
async function on(fixture, options, body) {
  const { page, context, problems, ms } = await open(browser, address(fixture), options);
  try {
    await body(page, ms);
    want(problems.length === 0, problems.slice(0, 3).join("; "));
  } finally {
    await context.close();
  }
}

async function seriousFindings(page) {
  await page.evaluate(axeSource);
  const found = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
  return found.violations.filter((v) => v.impact === "serious" || v.impact === "critical").map((v) => `${v.id} (${v.nodes.length}): ${v.nodes[0].html.slice(0, 160)} ${v.nodes[0].failureSummary?.split("\n")[1] ?? ""}`);
}

const text = (page) => page.locator("main").innerText();
const names = readdirSync(dir).filter((f) => f.endsWith(".html")).map((f) => f.replace(/\.html$/, ""));

for (const name of names) {
  for (const [look, options] of Object.entries({ light: {}, dark: { colorScheme: "dark" }, phone: { viewport: PHONE } })) {
    await check(`${name}, ${look}: no problem, nothing outside, accessible`, () =>
      on(name, options, async (page) => {
        await page.evaluate(() => document.querySelectorAll("details").forEach((d) => (d.open = true)));
        await page.waitForTimeout(100);
        const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        want(wide <= 0, `the page is ${wide} pixels wider than the screen`);
        if (name === "experiment-large" && look !== "light") return; // axe takes long on it
        const found = await seriousFindings(page);
        want(found.length === 0, found.join(" | "));
      }));
  }
}

const FIRST_SCREEN = {
  "run-valid": [/valid/i, /requests\/s/, /What limits it/, /why not double\?/, /app used all of its 0\.2 cores/, /GET gateway\//, /Compared with/],
  "run-suspect": [/suspect/i, /Usable with care/, /waited for a core/],
  "run-invalid": [/invalid/i, /Do not use this number/, /the number is its own/, /limit was not identified/],
  "run-unstable": [/Unstable at this rate/],
  experiment: [/Does adding instances behind nginx scale\?/, /instances=4/, /times the baseline instances=1, which reached/, /97% interval|96\.9% interval/, /What limits it/, /2 without a result|1 without a result/],
  "experiment-few": [/GET gateway\//, /median of trials 3 and 5, range 5,660 to 6,120/, /Trial 7 \(4,601\) is left out: the hypervisor gave 5\.48%/, /About 2\.72 times the baseline instances=1, which reached 1,960 requests\/s, with 3 times the instances \(3\.12 and 2\.37 in the 2 usable blocks\)/, /it takes 7 usable blocks, and there are 2/, /Of 9 trials: 3 invalid, and in no figure/, /CPU quota of app \(definite\)/, /app\[1\] in 98%, app\[2\] in 96%/, /7 things looked at/],
};
for (const [name, wanted] of Object.entries(FIRST_SCREEN)) {
  await check(`${name}: the first screen answers`, () =>
    on(name, {}, async (page) => {
      const box = await page.locator(".answer").boundingBox();
      want(box.y + box.height < 900, `the answer ends at ${Math.round(box.y + box.height)} of 900 pixels`);
      const shown = await page.locator(".answer").innerText();
      for (const w of wanted) want(w.test(shown), `${w} is not in: ${shown}`);
    }));
}

// What a phone shows before one scrolls: target, verdict, number, baseline, limit.
for (const name of ["experiment-few", "experiment", "run-suspect"]) {
  await check(`${name}: the first screen of a phone answers too`, () =>
    on(name, { viewport: PHONE }, async (page) => {
      for (const part of [".title .what", ".verdict .word", ".big", ...(name.startsWith("run") ? [] : [".sentence"]), ".limit-name"]) {
        const box = await page.locator(`.answer ${part}`).boundingBox();
        want(box.y + box.height < PHONE.height, `${part} ends at ${Math.round(box.y + box.height)} of ${PHONE.height} pixels`);
      }
      const [reasons, limit] = await Promise.all([page.locator(".reasons").boundingBox(), page.locator(".answer .limiter-text").boundingBox()]);
      want(reasons.y > limit.y, "the reasons come before the limit");
    }));
}

await check("the verdict stands above the number", () =>
  on("run-suspect", {}, async (page) => {
    const [verdict, number] = await Promise.all([page.locator(".verdict").boundingBox(), page.locator(".big").boundingBox()]);
    want(verdict.y < number.y, "the number comes first");
  }));

await check("a run: sections, percentiles, series of everything that was watched", () =>
  on("run-suspect", {}, async (page) => {
    const all = await text(page);
    for (const w of ["Response time by percentile", "Response times, each second", "CPU of generator and services", "Held back by the CPU limit", "Java heap of app", "Java threads by state of app", "Java threads in pools of app", "CPU of Java threads by name of app", "committed", "waiting, timed", "http-nio-8080-exec-* busy", "Network", "Worst seconds", "GC", "not met", "app × 2", "errors < 0.1%", "prony load"]) want(all.includes(w), `${w} is missing`);
    want((await page.locator(".u-wrap canvas").count()) >= 12, "there are too few charts over time");
    const heat = await page.locator("figure:has(figcaption:text('Response times, each second')) canvas").evaluate((c) => {
      const d = c.getContext("2d").getImageData(0, 0, c.width, c.height).data;
      return new Set(Array.from({ length: 4000 }, (_, i) => d.slice(i * 4 * Math.floor(d.length / 16000), i * 4 * Math.floor(d.length / 16000) + 3).join())).size;
    });
    want(heat > 8, `the heat map has ${heat} colours`);
    want((await page.locator("a[href='https://docs.example/findings/cpu-pressure.md']").count()) === 1, "the rule is not linked");
  }));

await check("percentiles of a growing queue are not shown", () =>
  on("run-unstable", {}, async (page) => {
    want((await page.locator("#latency table").count()) === 0, "there is a table of percentiles");
    want((await page.getByText("Response time by percentile").count()) === 0, "there is a curve");
  }));

await check("without what was watched the page says so", () =>
  on("run-invalid", {}, async (page) => {
    want(/not watched second by second/.test(await text(page)), "it does not");
    want((await page.getByText("Java heap").count()) === 0, "there is an empty chart");
  }));

await check("an experiment: comparison, dots, scaling, every run, the failed ones too", () =>
  on("experiment", {}, async (page) => {
    const all = await text(page);
    for (const w of ["Every trial", "Against the baseline", "Scaling with instances", "Efficiency by instances", "Throughput and response time", "it did not answer GET / within 30s", "about 9 blocks in all would tell", "Was it fair?", "scaling(instances) > 0.7", "prony run nginx-scale.yaml", "vary:"]) want(all.includes(w), `${w} is missing`);
    const row = await page.locator("#variants table").first().locator("tr", { hasText: "instances=3" }).innerText();
    want(/4 of 6/.test(row) && /suspect/.test(row), `the failed or the invalid run was counted: ${row}`);
    want((await page.locator("#runs tbody tr").count()) === 24, "not every run is listed");
    want((await page.locator("path.cross").count()) === 1, "the invalid run has no cross");
  }));

await check("another trial by the keyboard", () =>
  on("experiment", {}, async (page) => {
    const before = await page.locator("#books .lead").innerText();
    await page.locator("#trial select").focus();
    await page.keyboard.press("End");
    await page.waitForFunction((old) => document.querySelector("#books .lead").textContent !== old, before);
    const after = await page.locator("#books .lead").innerText();
    want(/instances=4/.test(after), `got ${after}`);
  }));

await check("the keyboard path: skip link, sections, colours, numbers", () =>
  on("run-valid", {}, async (page) => {
    await page.keyboard.press("Tab");
    want((await page.evaluate(() => document.activeElement.textContent)) === "Skip to the report", "the first stop is not the skip link");
    await page.keyboard.press("Enter");
    want(await page.evaluate(() => document.activeElement.id === "content"), "it does not lead to the report");
    await page.getByRole("button", { name: /Switch to dark/ }).focus();
    const before = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    await page.keyboard.press("Enter");
    const after = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    want(before !== after, "the colours did not change");
    const summary = page.locator("details.numbers summary").first();
    await summary.focus();
    await page.keyboard.press("Enter");
    await page.waitForSelector("details.numbers[open] table");
    const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Save as CSV" }).press("Enter")]);
    const csv = readFileSync(await file.path(), "utf8");
    want(/^[a-z_0-9,]+\r\n/.test(csv) && csv.split("\r\n").length > 10, `the CSV is ${csv.slice(0, 80)}`);
  }));

await check("the data can be saved and is the JSON of the page", () =>
  on("experiment", {}, async (page) => {
    const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Save the data as JSON" }).click()]);
    const doc = JSON.parse(readFileSync(await file.path(), "utf8"));
    want(doc.experiment.trials.length === 24, "it lacks trials");
  }));

await check("hostile content runs nothing and is shown as text", () =>
  on("hostile", {}, async (page) => {
    for (const b of await page.locator("button:visible").all()) if (!/Save|Copy/.test(await b.innerText())) await b.click();
    await page.evaluate(() => document.querySelectorAll("details").forEach((d) => (d.open = true)));
    await page.waitForTimeout(200);
    want((await page.evaluate(() => window.pwned)) === undefined, "something ran");
    want((await page.locator("main img").count()) === 0, "an element came from data");
    want((await page.locator("a[href^='javascript']").count()) === 0, "an address that runs is linked");
    want((await page.locator("h1").innerText()).includes("<script>window.pwned=1</script>"), "the text is not shown as it is");
  }));

await check("the policy stops a script that gets in", () =>
  on("run-valid", {}, async (page) => {
    const ran = await page.evaluate(() => new Promise((done) => {
      addEventListener("securitypolicyviolation", (e) => done(e.violatedDirective), { once: true });
      const s = document.createElement("script");
      s.textContent = "window.pwned = 1";
      document.body.append(s);
      setTimeout(() => done("nothing stopped it"), 500);
    }));
    want(/script-src/.test(ran), ran);
  }).catch((e) => { if (!/Content Security Policy/.test(e.message)) throw e; }));

await check("it prints: light, without buttons, charts inside the paper", () =>
  on("run-suspect", { colorScheme: "dark" }, async (page) => {
    const pdf = await page.pdf({ format: "A4" });
    want(pdf.length > 50_000, `the PDF has ${pdf.length} bytes`);
    await page.setViewportSize({ width: 700, height: 900 });
    await page.emulateMedia({ media: "print" });
    await page.waitForFunction(() => document.documentElement.dataset.theme === "light", undefined, { timeout: 10_000 });
    await page.waitForFunction(() => document.documentElement.scrollWidth <= 700, undefined, { timeout: 10_000 });
    want((await page.locator("button:visible").count()) === 0, "there are buttons");
    want((await page.evaluate(() => document.documentElement.scrollWidth)) <= 700, "it is wider than the paper");
  }));

if (names.includes("experiment-large")) {
  await check("200 trials: under 5 MB, open in under two seconds", async () => {
    // A small page is the measure of how busy this machine is: a wall clock says
    // nothing about the page where others take the cores.
    let usual = 0;
    await on("run-valid", {}, (_, ms) => { usual = ms; });
    await on("experiment-large", {}, async (page, ms) => {
      const size = statSync(join(dir, "experiment-large.html")).size;
      console.log(`      ${size} bytes, first screen after ${Math.round(ms)} ms; a small page takes ${Math.round(usual)} ms here`);
      want(size < 5e6, `${size} bytes`);
      if (usual < 400) want(ms < 2000, `it took ${Math.round(ms)} ms`);
      else want(ms < 8 * usual, `it took ${Math.round(ms)} ms, and a small page ${Math.round(usual)} ms`);
      want((await page.locator("#runs tbody tr").count()) === 200, "not every run is listed");
    });
  });
}

await browser.close();
if (!given) rmSync(dir, { recursive: true });
console.log(failures ? `${failures} failed` : "all good");
process.exit(failures ? 1 : 0);

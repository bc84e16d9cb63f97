// A real Chromium, shared by the tests and the screenshots.
import { chromium } from "playwright-core";

export const launch = () =>
  chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
  });

export const DESKTOP = { width: 1280, height: 900 };
export const PHONE = { width: 390, height: 844 };

/** Opens an address in a context of its own. Everything that the page says or
 * asks for is kept: problems are what a good page has none of. */
export async function open(browser, url, { viewport = DESKTOP, colorScheme = "light", ...more } = {}) {
  const context = await browser.newContext({ viewport, colorScheme, acceptDownloads: true, reducedMotion: "reduce", ...more });
  const page = await context.newPage();
  const problems = [];
  page.on("console", (m) => (m.type() === "error" || m.type() === "warning") && problems.push(`console: ${m.text()}`));
  page.on("pageerror", (e) => problems.push(`error: ${e.message}`));
  page.on("dialog", (d) => { problems.push(`dialog: ${d.message()}`); d.dismiss(); });
  page.on("request", (r) => r.url() !== url && !/^(blob|data):/.test(r.url()) && problems.push(`request: ${r.url()}`));
  const start = performance.now();
  await page.goto(url, { waitUntil: "load" });
  await page.waitForSelector("main h1");
  const ms = performance.now() - start;
  await settled(page);
  return { page, context, problems, ms };
}

/** Waits until the charts that decode histograms are drawn. */
export async function settled(page) {
  await page.waitForFunction(() => document.documentElement.dataset.whole === "true");
  await page.waitForTimeout(300); // histograms are decoded behind that, which has no end that shows
}

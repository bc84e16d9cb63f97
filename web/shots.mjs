// Screenshots of a page: node shots.mjs URL OUT-DIR
// or of one trial's Java services over time: node shots.mjs --java PICTURE.png URL
// or of every page of prony serve: node shots.mjs --pages OUT-DIR [ADDRESS]
// where ADDRESS is a server that runs; without one it starts its own, with fixtures.
// Writes NAME-desktop.png, NAME-dark.png and NAME-phone.png of the first screen,
// and NAME-whole.png of all of it; NAME is the last part of the address.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { DESKTOP, launch, open, PHONE } from "./test/browser.mjs";
import { pictures } from "./test/ui-shots.mjs";

const [url, out, address] = process.argv.slice(2);
if (!url || !out) {
  console.error("usage: node shots.mjs URL OUT-DIR, or --pages OUT-DIR [ADDRESS]");
  process.exit(2);
}
if (url === "--pages") {
  await pictures(out, address?.replace(/\/$/, ""));
  process.exit(0);
}
if (url === "--java") {
  await java(address, out);
  process.exit(0);
}
mkdirSync(out, { recursive: true });
const name = (new URL(url).pathname.split("/").filter(Boolean).at(-1) ?? "page").replace(/\.html$/, "");
const browser = await launch();
for (const [look, options, fullPage] of [
  ["desktop", { viewport: DESKTOP }, false],
  ["dark", { viewport: DESKTOP, colorScheme: "dark" }, false],
  ["phone", { viewport: PHONE, deviceScaleFactor: 2 }, false],
  ["whole", { viewport: DESKTOP }, true],
]) {
  const { page, context } = await open(browser, url, options);
  await page.screenshot({ path: join(out, `${name}-${look}.png`), fullPage });
  await context.close();
}
await browser.close();

/** Writes the response times and what the virtual machines did, one below the other. */
async function java(report, picture) {
  const browser = await launch();
  const { page } = await open(browser, report, { viewport: { width: 1100, height: 2400 } });
  const found = await page.evaluate(() => {
    const section = document.querySelector("#time");
    const heading = [...section.querySelectorAll("h3")].find((h) => h.textContent === "Java virtual machines");
    const times = [...section.querySelectorAll("figure")].find((f) => f.textContent.includes("Response time"));
    if (!heading || !times) return false;
    section.replaceChildren(times, heading, heading.nextElementSibling);
    for (const details of section.querySelectorAll("details")) details.remove();
    document.querySelector("header")?.remove();
    return true;
  });
  if (!found) throw new Error("no Java service in this report: prony report SOURCE --trial N -o REPORT.html writes that of one trial");
  await page.locator("#time").screenshot({ path: picture });
  await browser.close();
}

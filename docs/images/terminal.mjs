// A picture of a terminal: node terminal.mjs CAPTURE OUT.png
// CAPTURE is what "tmux capture-pane -e -p" wrote: text with colours of the
// terminal's own sixteen.
import { readFileSync } from "node:fs";
import { launch } from "../../web/test/browser.mjs";

const [capture, out] = process.argv.slice(2);
if (!capture || !out) {
  console.error("usage: node terminal.mjs CAPTURE OUT.png");
  process.exit(2);
}
const palette = ["#1c1f24", "#e06c75", "#98c379", "#e5c07b", "#61afef", "#c678dd", "#56b6c2", "#c8ccd4"];
const bright = ["#7f848e", "#ff7b86", "#b5e890", "#ffd68a", "#7cc4ff", "#e29bff", "#6fd8e0", "#ffffff"];

function colour(n) {
  return n < 8 ? palette[n] : bright[n - 8];
}

function escape(text) {
  return text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
}

// apply changes a style by the numbers of one escape sequence (ECMA-48 SGR).
function apply(style, numbers) {
  for (let i = 0; i < numbers.length; i++) {
    const n = numbers[i];
    if (n === 0) style = {};
    else if (n === 1) style = { ...style, bold: true };
    else if (n === 2) style = { ...style, dim: true };
    else if (n === 22) style = { ...style, bold: false, dim: false };
    else if (n === 7) style = { ...style, swap: true };
    else if (n === 27) style = { ...style, swap: false };
    else if (n >= 30 && n <= 37) style = { ...style, fg: colour(n - 30) };
    else if (n >= 90 && n <= 97) style = { ...style, fg: colour(n - 82) };
    else if (n === 39) style = { ...style, fg: undefined };
    else if (n >= 40 && n <= 47) style = { ...style, bg: colour(n - 40) };
    else if (n >= 100 && n <= 107) style = { ...style, bg: colour(n - 92) };
    else if (n === 49) style = { ...style, bg: undefined };
    else if ((n === 38 || n === 48) && numbers[i + 1] === 5) {
      if (numbers[i + 2] < 16) style = { ...style, [n === 38 ? "fg" : "bg"]: colour(numbers[i + 2]) };
      i += 2;
    }
  }
  return style;
}

function css(style) {
  let fg = style.fg ?? "#c8ccd4";
  let bg = style.bg ?? "transparent";
  if (style.swap) [fg, bg] = [style.bg ?? "#1c1f24", style.fg ?? "#c8ccd4"];
  return `color:${fg};background:${bg};${style.bold ? "font-weight:600;" : ""}${style.dim ? "opacity:.65;" : ""}`;
}

let style = {};
let html = "";
for (const part of readFileSync(capture, "utf8").trimEnd().split(/(\x1b\[[0-9;]*m)/)) {
  const sequence = /^\x1b\[([0-9;]*)m$/.exec(part);
  if (sequence) style = apply(style, sequence[1].split(";").map(Number));
  else html += `<span style="${css(style)}">${escape(part)}</span>`;
}

const browser = await launch();
const page = await browser.newPage({ deviceScaleFactor: 2, viewport: { width: 1600, height: 1000 } });
await page.setContent(`<body style="margin:0;background:#fff"><pre id="t" style="display:inline-block;margin:0;padding:18px 22px;border-radius:10px;
  background:#1c1f24;font:14px/16px 'DejaVu Sans Mono',monospace">${html}</pre></body>`);
await page.locator("#t").screenshot({ path: out });
await browser.close();

import { createHash } from "node:crypto";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { defineConfig } from "vite";

// Two faces of the same sources: the report (dist/prony.js and .css, which Go
// writes into one file) and, with --mode ui, the pages of prony serve (dist/ui).
// Names of the latter change with their content, so that browsers may keep them.

// The licences of what is bundled travel with it: MIT asks for its text in
// every copy, and the report is a copy.
const licence = (name: string) => readFileSync(`node_modules/${name}/LICENSE`, "utf8").trim();
const banner =
  "/*! This page contains preact and uPlot.\n\npreact\n" + licence("preact") + "\n\nuPlot\n" + licence("uplot") + "\n*/";

const UI = "../internal/web/dist/ui";

/** Writes index.html around the built files. Its policy names the script by its
 * hash, and the style by its place, since browsers know no hashes of those. */
const index = {
  name: "index",
  closeBundle() {
    const dir = resolve(UI);
    const file = (ending: string) => readdirSync(dir).find((f) => f.endsWith(ending))!;
    const [script, style] = [file(".js"), file(".css")];
    const hash = (name: string) => `sha256-${createHash("sha256").update(readFileSync(join(dir, name))).digest("base64")}`;
    const policy = `default-src 'none'; script-src '${hash(script)}'; style-src 'self'; img-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'`;
    writeFileSync(join(dir, "index.html"), `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<link rel="icon" href="data:,">
<title>Prony</title>
<link rel="stylesheet" href="/${style}" integrity="${hash(style)}">
<script defer src="/${script}" integrity="${hash(script)}"></script>
</head>
<body>
<div id="page"><noscript><h1>Prony</h1><p>These pages draw themselves with a script from this server. Without it, <code>prony list</code> and <code>prony show</code> tell the same.</p></noscript></div>
</body>
</html>
`);
  },
};

export default defineConfig(({ mode }) => {
  const ui = mode === "ui";
  const name = ui ? "prony-[hash]" : "prony";
  return {
    publicDir: false,
    plugins: ui ? [index] : [],
    define: { "process.env.NODE_ENV": '"production"' },
    build: {
      outDir: ui ? UI : "../internal/web/dist",
      emptyOutDir: true,
      target: "es2022",
      cssCodeSplit: false,
      modulePreload: false,
      reportCompressedSize: false,
      rollupOptions: {
        input: ui ? "src/ui.tsx" : "src/main.tsx",
        output: { format: "iife", entryFileNames: `${name}.js`, assetFileNames: `${name}[extname]`, postBanner: banner },
      },
    },
    test: { include: ["src/**/*.test.ts"] },
  } as never;
});

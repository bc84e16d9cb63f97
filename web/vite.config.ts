import { readFileSync } from "node:fs";
import { defineConfig } from "vite";

// The licences of what is bundled travel with it: MIT asks for its text in
// every copy, and the report is a copy.
const licence = (name: string) => readFileSync(`node_modules/${name}/LICENSE`, "utf8").trim();
const banner =
  "/*! This page contains preact and uPlot.\n\npreact\n" + licence("preact") + "\n\nuPlot\n" + licence("uplot") + "\n*/";

export default defineConfig({
  publicDir: false,
  build: {
    outDir: "../internal/web/dist",
    emptyOutDir: true,
    target: "es2022",
    cssCodeSplit: false,
    modulePreload: false,
    reportCompressedSize: false,
    rollupOptions: {
      input: "src/main.tsx",
      output: {
        format: "iife",
        entryFileNames: "prony.js",
        assetFileNames: "prony[extname]",
        postBanner: banner,
      },
    },
  },
  test: { include: ["src/**/*.test.ts"] },
} as never);

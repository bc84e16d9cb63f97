// Builds prony, makes fixtures, and starts prony serve on a free port with a
// history of its own.
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const root = resolve(import.meta.dirname, "../..");

/** Environment: PRONY names a built binary, FIXTURES a folder with fixtures. */
export async function start({ args = ["--allow-run"] } = {}) {
  const dir = mkdtempSync(join(tmpdir(), "prony-ui-"));
  const prony = process.env.PRONY ?? join(dir, "prony");
  if (!process.env.PRONY) execFileSync("go", ["build", "-o", prony, "./cmd/prony"], { cwd: root, stdio: "inherit" });
  const fixtures = process.env.FIXTURES ?? join(dir, "fixtures");
  if (!process.env.FIXTURES) {
    execFileSync("mkdir", ["-p", fixtures]);
    execFileSync("go", ["test", "-count=1", "./internal/web", "-run", "^TestFixtures$", "-fixtures", fixtures], { cwd: root, stdio: "inherit" });
  }
  const server = await serve(prony, join(dir, "store.db"), dir, args);
  const close = async () => {
    await server.stop();
    rmSync(dir, { recursive: true, force: true });
  };
  return { ...server, prony, fixtures, dir, close };
}

/** One prony serve. Its port may be given, so that it can come back. */
export async function serve(prony, store, dir, args = [], port = 0) {
  const child = spawn(prony, ["serve", "--store", store, "--keep", join(dir, "keep"), "--addr", `127.0.0.1:${port}`, ...args], { stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  child.stderr.on("data", (d) => { said += d; });
  const base = await new Promise((done, fail) => {
    let out = "";
    child.stdout.on("data", (d) => {
      out += d;
      const m = /listening on (http:\/\/\S+?)\/?\s/.exec(out);
      if (m) done(m[1]);
    });
    child.on("exit", (code) => fail(new Error(`prony serve ended with ${code}: ${said}`)));
  });
  const stop = () => new Promise((done) => {
    if (child.exitCode !== null) return done();
    child.removeAllListeners("exit");
    child.on("exit", done);
    child.kill("SIGINT");
  });
  return { base, stop, said: () => said };
}

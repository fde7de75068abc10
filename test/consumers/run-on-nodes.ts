/**
 * `npm run test:nodes`: the vectors and the demo on each version of Node that memcell supports, and what Bun and Deno do
 * with the packed package. Everything comes from the registry, pinned in `runtimes/`.
 */
import { join } from "node:path";

import { clone, finished } from "./finished.ts";
import type { Finished } from "./finished.ts";
import { installPinned } from "./pinned.ts";
import { program } from "./program.ts";
import { makeProject } from "./project.ts";

const packages = join(await installPinned("runtimes"), "node_modules");

const vectors = [
  "run",
  "--config",
  "test/vitest.config.ts",
  "--project",
  "fast",
  "test/conformance/conformance.test.ts",
];
let failures = 0;

function report(what: string, { said }: Finished, isAsExpected: boolean): void {
  if (!isAsExpected) failures += 1;
  const [summary = ""] = /^\d+ passed, .*$/m.exec(said) ?? [];
  console.log(`${isAsExpected ? "ok    " : "FAILED"} ${what} ${summary}`);
  if (!isAsExpected) console.log(said);
}

await using project = await makeProject(null);
await project.write({
  "files.js": program('{ dataDir: "data" }'),
  "memory.js": program("{ store: memoryStore() }", "createRuntime, memoryStore"),
});
const bun = join(packages, "@oven", "bun-linux-x64", "bin", "bun");
const deno = join(packages, "@deno", "linux-x64-glibc", "deno");
const refused =
  /^STORAGE_FAILED: Cannot lock files: .* cannot be used in (?:Bun|Deno) [\d.]+, which lacks functions of libuv; /;

for (const [name, runtime, store, expected] of [
  ["Bun, in memory", [bun], "memory.js", /^created\n$/],
  ["Bun, files", [bun], "files.js", refused],
  ["Deno, in memory", [deno, "run", "-A"], "memory.js", /Cannot run a plugin: no thread can start/],
  ["Deno, files", [deno, "run", "-A"], "files.js", refused],
] as const) {
  const [path, ...args] = runtime;
  const done = await finished(path, [...args, store], { cwd: project.folder });
  report(`${name} as the page says:`, done, expected.test(done.said));
}

for (const version of ["node20", "node22", "node24", "node26"]) {
  const node = join(packages, version, "bin", "node");
  const name = `Node ${(await finished(node, ["--version"], { cwd: clone })).said.trim()}:`;
  const vitest = join(clone, "node_modules", "vitest", "vitest.mjs");
  const replayed = await finished(node, [vitest, ...vectors], { cwd: clone, env: { TEST_BUILT: "1" } });
  report(`${name} vectors`, replayed, replayed.status === 0);
  const demo = await finished(node, [join(clone, "dist", "test", "demo", "demo.js")], { cwd: clone });
  report(`${name} demo`, demo, demo.status === 0 && demo.said.includes("CAPABILITY_DENIED"));
}

process.exitCode = failures === 0 ? 0 : 1;

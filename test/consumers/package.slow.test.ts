/** The package as it is installed: what checkers say of it, how large it is, and what it does without some of its parts. */
import { copyFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { afterAll, beforeAll, expect, test } from "vitest";

import { temporaryFolder } from "../support/temporary-folder.ts";
import { finished } from "./finished.ts";
import { installPinned } from "./pinned.ts";
import { program } from "./program.ts";
import { makeProject } from "./project.ts";
import type { Project } from "./project.ts";

let project: Project;
let pinned: string;
beforeAll(async () => {
  pinned = await installPinned("bundlers");
  project = await makeProject(null);
  await project.write({
    "files.js": program('{ dataDir: "data" }'),
    "memory.js": program("{ store: memoryStore() }", "createRuntime, memoryStore"),
    "log.js": program('{ store: memoryStore(), auditLog: { file: "log.jsonl" } }', "createRuntime, memoryStore"),
  });
}, 15 * 60_000);
afterAll(async () => await project?.[Symbol.asyncDispose]());

/** Runs something without a part of the installed packages. */
async function without<Result>(part: string, work: () => Promise<Result>): Promise<Result> {
  const [place, hidden] = [join(project.folder, "node_modules", part), join(project.folder, "hidden")];
  await rename(place, hidden);
  try {
    return await work();
  } finally {
    await rename(hidden, place);
  }
}

const checker = (tool: string, ...args: string[]): ReturnType<typeof finished> =>
  finished(join(pinned, "node_modules", ".bin", tool), args, { cwd: project.folder });

test("publint and Are the types wrong find nothing", async () => {
  expect(await checker("publint", project.tarball, "--strict")).toMatchObject({ status: 0, said: /All good!/ });
  // Its subpaths without code have types alone.
  const attw = await checker("attw", project.tarball, "--profile", "esm-only", "--no-color");
  expect(attw.status, attw.said).toBe(0);
});

test("it is installed with the packages that it needs, and no other", async () => {
  const [, packages] = /added (\d+) packages/.exec(project.installed.said) ?? [];
  const disk = await finished("du", ["-sm", "node_modules"], { cwd: project.folder });
  console.log(
    `${packages} packages, ${Number.parseInt(disk.said, 10)} MB, ${Math.round(project.installed.ms / 1000)} s`,
  );
  expect(Number(packages)).toBeLessThanOrEqual(46);
  expect(Number.parseInt(disk.said, 10)).toBeLessThanOrEqual(42);
});

test("without the native add-on, a store in memory works, and files say where it can be had", async () => {
  const [files, memory, log] = await without("fs-native-extensions/prebuilds", async () => [
    await project.run("node", "files.js"),
    await project.run("node", "memory.js"),
    await project.run("node", "log.js"),
  ]);
  const instead =
    /Cannot lock files: the native add-on of fs-native-extensions cannot be used on linux-\w+; the package has it for linux \(glibc\), darwin and win32 on x64 and arm64; in place of files, use postgresStore or memoryStore\n$/;
  expect(files.said).toMatch(/^STORAGE_FAILED: /);
  expect(files.said).toMatch(instead);
  expect(memory.said).toBe("created\n");
  expect(log.said).toMatch(/^STORAGE_FAILED: Cannot open the audit log: the native add-on /);
});

test("it can be used without OpenTelemetry's SDK; metrics say what to install", async () => {
  expect((await project.run("node", "files.js")).said).toBe("created\n");
  const serve = ["serve", "--http", "--user", "alice", "--data", "data", "--port", "0", "--metrics", "127.0.0.1:0"];
  expect(await project.run("memcell", ...serve)).toEqual({
    status: 2,
    said: expect.stringMatching(
      /^memcell serve: metrics need the SDK of OpenTelemetry, which is not installed: npm install @opentelemetry\/sdk-metrics @opentelemetry\/exporter-prometheus\n/,
    ) as string,
  });
});

test.for([
  "build/plugins.lock.json",
  "dist/plugins/",
  "dist/host/thread/load-worker.cjs",
  "host/plugins/policy/default-policy.json",
])("without %s, it names the file and what to do", async (path) => {
  const { said } = await without(`memcell/${path}`, () => project.run("node", "files.js"));
  expect(said).toMatch(/^INTERNAL: /);
  expect(said).toContain(
    `Cannot use memcell: ${path} of its package is missing; whatever copies the package must copy all`,
  );
});

test("Yarn's Plug'n'Play takes it", { timeout: 5 * 60_000 }, async () => {
  using folder = temporaryFolder();
  const yarn = join(pinned, "node_modules", "@yarnpkg", "cli-dist", "bin", "yarn.js");
  const run = (...args: string[]): ReturnType<typeof finished> =>
    finished(process.execPath, [yarn, ...args], { cwd: folder.path });
  const dependencies = { memcell: `file:${project.tarball}` };
  await writeFile(join(folder.path, "package.json"), JSON.stringify({ private: true, type: "module", dependencies }));
  await writeFile(join(folder.path, "yarn.lock"), "");
  await copyFile(join(project.folder, "files.js"), join(folder.path, "files.js"));
  // In CI it would not write the lock file.
  const installed = await run("install", "--no-immutable");
  expect(installed.status, installed.said).toBe(0);
  expect((await run("node", "files.js")).said).toContain("created\n");
  expect((await run("memcell", "--version")).said).toMatch(/^\d+\.\d+\.\d+\n$/m);
});

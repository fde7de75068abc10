/**
 * Programs that were built with the lines of host/runtime/bundlers.md work, and without them they say what to do. Each run
 * takes one bundler.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";

import { afterAll, beforeAll, expect, test } from "vitest";

import { blocksIn } from "../documents/markdown-table.ts";
import { textOf } from "../documents/tracked-files.ts";
import { oneIn } from "../stage/seed.ts";
import { installPinned } from "./pinned.ts";
import { program } from "./program.ts";
import { makeProject } from "./project.ts";
import type { Project } from "./project.ts";

const blocks = blocksIn(textOf("host/runtime/bundlers.md"));
const linesOf = (language: string): string[] =>
  blocks.filter((block) => block.language === language).map(({ text }) => text);
const [next = "", standalone = "", webpack = "", vite = ""] = linesOf("js");
const [esbuild = ""] = linesOf("sh");

const instead =
  "Cannot run memcell from a bundle: it reads files of its package and starts threads from them; keep it out";
const upsert = `{ action: "upsert", type: "user", name: "a", description: "x", body: "y" }`;
let project: Project;
const minutes = 60_000;
beforeAll(async () => {
  project = await makeProject(await installPinned("bundlers"));
  await project.write({ "app.js": program(`{ dataDir: "data" }`) });
}, 15 * minutes);
afterAll(async () => await project?.[Symbol.asyncDispose]());

/** What the built program prints, in a fresh data folder. */
async function printed(file: string): Promise<string> {
  await rm(join(project.folder, "data"), { recursive: true, force: true });
  return (await project.run("node", file)).said;
}

const built = async (tool: string, ...args: string[]): Promise<void> => {
  const { status, said } = await project.run(tool, ...args);
  expect(status, said).toBe(0);
};

const bundlers = [
  { name: "esbuild", show: showEsbuild },
  { name: "webpack", show: showWebpack },
  { name: "Vite", show: showVite },
  { name: "Next.js", show: showNext },
];

test("the program works as it is", async () => {
  expect(await printed("app.js")).toBe("created\n");
});

test.for(oneIn(4, bundlers))(
  "$name: with the lines the program works, and without them it says what to do",
  { timeout: 10 * minutes },
  ({ show }) => show(),
);

async function showEsbuild(): Promise<void> {
  const [tool = "", ...args] = esbuild.trim().split(" ");
  await built(tool, ...args);
  expect(await printed("dist/app.js")).toBe("created\n");
  await built(tool, ...args.map((arg) => arg.replace("--packages=external", "--log-level=error")));
  expect(await printed("dist/app.js")).toContain(`Error: ${instead}`);
  await project.write({ "small.js": 'import { storeIdOf } from "memcell";\nconsole.log(storeIdOf("alice"));\n' });
  await built(tool, "small.js", "--bundle", "--platform=node", "--outfile=dist/app.cjs", "--log-level=error");
  expect(await printed("dist/app.cjs")).toContain(`Error: ${instead}`);
}

/** webpack's own command is another package. */
const webpackProgram = (config: string): string => `import webpack from "webpack";
const config = ${config.replace(/^export default /, "")}
const own = { mode: "none", context: process.cwd(), entry: "./app.js", output: { filename: "app.cjs" } };
webpack({ ...own, ...config }, (error, stats) => {
  if (error ?? stats.hasErrors()) throw error ?? new Error(stats.toString());
});
`;

async function showWebpack(): Promise<void> {
  await project.write({ "webpack.js": webpackProgram(webpack), "bundled.js": webpackProgram(`{ target: "node20" };`) });
  await built("node", "webpack.js");
  expect(await printed("dist/app.cjs")).toBe("created\n");
  await built("node", "bundled.js");
  expect(await printed("dist/app.cjs")).toContain(`Error: ${instead}`);
}

async function showVite(): Promise<void> {
  await project.write({ "vite.config.js": vite });
  await built("vite", "build", "--ssr", "app.js");
  expect(await printed("dist/app.js")).toBe("created\n");
  await project.write({ "vite.config.js": "export default { ssr: { noExternal: true } };\n" });
  await built("vite", "build", "--ssr", "app.js");
  expect(await printed("dist/app.js")).toContain(`Error: ${instead}`);
}

const route = `import { createRuntime } from "memcell";
export const dynamic = "force-dynamic";
const runtime = createRuntime({ dataDir: process.env.DATA ?? "data" });
export async function GET() {
  return Response.json(await (await runtime).call("UpdateUserMemory", ${upsert}, { userId: "alice" }));
}
`;

/** What a started server answers. */
async function answered(cwd: string, args: readonly string[]): Promise<unknown> {
  const env = { ...process.env, PORT: "0", HOSTNAME: "127.0.0.1", DATA: join(project.folder, "data") };
  const server = spawn(process.execPath, [...args], { cwd, env, stdio: ["ignore", "pipe", "inherit"] });
  const ended = once(server, "exit");
  try {
    let said = "";
    for await (const chunk of server.stdout) if ((said += String(chunk)).includes("Ready in")) break;
    const [, port] = /Local:\s+http:\/\/[^:]+:(\d+)/.exec(said) ?? [];
    return await (await fetch(`http://127.0.0.1:${port}/memory`)).json();
  } finally {
    server.kill("SIGKILL");
    await ended;
  }
}

/** Without configuration, the build fails with the sentence. */
async function showNext(): Promise<void> {
  await mkdir(join(project.folder, "app", "memory"), { recursive: true });
  await project.write({ "app/memory/route.js": route });
  const refused = await project.run("next", "build");
  expect(refused.status).not.toBe(0);
  expect(refused.said).toContain(`Error: ${instead}`);

  await rm(join(project.folder, "data"), { recursive: true, force: true });
  await project.write({ "next.config.mjs": next });
  await built("next", "build");
  const start = [join(project.folder, "node_modules", "next", "dist", "bin", "next"), "start"];
  expect(await answered(project.folder, start)).toMatchObject({ ok: true, data: { outcome: "created" } });

  await project.write({ "next.config.mjs": standalone });
  await built("next", "build");
  const folder = join(project.folder, ".next", "standalone");
  expect(await answered(folder, ["server.js"])).toMatchObject({ ok: true, data: { outcome: "replaced" } });
}

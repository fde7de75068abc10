/**
 * The doctor tries what tools do. Each file and folder of a memory with all families is replaced by something else: if
 * then anything fails that worked before, the doctor names a problem. What it says it can mend works again afterwards.
 */
import { cpSync, mkdirSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { createRuntime, storeIdOf } from "memcell";
import type { Runtime } from "memcell";
import { beforeAll, expect, test } from "vitest";

import { isProblem } from "../../host/upkeep/finding.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { shippedNames } from "../support/test-plugin.ts";

const ctx = { userId: "alice" };
const clock = (): number => Date.UTC(2026, 0, 2);
const open = (dataDir: string): Promise<Runtime> =>
  createRuntime({ dataDir, plugins: shippedNames(), threadsMax: 1, clock });

type Use = (runtime: Runtime) => Promise<unknown>;

/** Throws the failure of a call. */
const done =
  (tool: string, input: object): Use =>
  async (runtime) => {
    const isHosts = tool === "AppendRunEvents" || tool === "LoadRun";
    const result = await (isHosts ? runtime.callAsHost(tool, input, ctx) : runtime.call(tool, input, ctx));
    if (!result.ok) throw result.error;
  };

const upsert = (name: string): Use =>
  done("UpdateUserMemory", { action: "upsert", name, type: "user", description: "d", body: "b" });
const remove = (name: string): Use => done("UpdateUserMemory", { action: "delete", name });
const create = (path: string): Use => done("memory", { command: "create", path: `/memories/${path}`, content: "x" });
const append = (appendId: string): Use => {
  const event = { type: "user_message", timestamp: "2026-01-01T00:00:00.000Z", data: '{"message":"hi"}' };
  return done("AppendRunEvents", { agentId: "p", runId: "r", appendId, events: [event] });
};
const setInternal: Use = (runtime) => runtime.stores(ctx).setInternal(null, "k", { a: 1 }, { namespace: "app" });
const grant: Use = (runtime) => runtime.stores(ctx).grant("bob", { level: "read" });

const first: readonly Use[] = [
  upsert("a"),
  upsert("gone"),
  remove("gone"),
  done("memory_write", { key: "k", content: "c" }),
  create("note"),
  append("1"),
  setInternal,
  grant,
];

/** What the tools of all families do with it. An entry that is missing is no failure. */
const uses: readonly Use[] = [
  done("ReadUserMemory", { name: "a" }),
  (runtime) => runtime.memoryIndex(ctx),
  done("memory_read", { key: "k" }),
  done("memory_search", { query: "c" }),
  done("memory", { command: "view", path: "/memories" }),
  done("memory", { command: "view", path: "/memories/note" }),
  done("memory", { command: "search", query: "x" }),
  done("LoadRun", { agentId: "p", runId: "r" }),
  (runtime) => runtime.stores(ctx).getInternal(null, "k", { namespace: "app" }),
  upsert("b"),
  upsert("a"),
  remove("a"),
  done("memory_write", { key: "k2", content: "c" }),
  create("note2"),
  done("memory", { command: "delete", path: "/memories/note" }),
  append("2"),
  setInternal,
  grant,
];

async function failuresIn(runtime: Runtime): Promise<string[]> {
  const failures: string[] = [];
  for (const use of uses) {
    try {
      await use(runtime);
    } catch (error) {
      const { code = "", message } = error as Error & { code?: string };
      if (!code.endsWith("NOT_FOUND")) failures.push(`${code} ${message}`);
    }
  }
  return failures;
}

const fileDamages = {
  "an empty folder": (at: string) => mkdirSync(at),
  "a folder with a file": (at: string) => {
    mkdirSync(at);
    writeFileSync(join(at, "x.md"), "x");
  },
  "an empty file": (at: string) => writeFileSync(at, ""),
  "what is not text": (at: string) => writeFileSync(at, Buffer.from([0xff, 0, 1])),
  "a link": (at: string) => symlinkSync("/etc/hostname", at),
  nothing: () => {},
};
const folderDamages = {
  "a file": (at: string) => writeFileSync(at, "x"),
  "a link": (at: string) => symlinkSync("/etc", at),
  nothing: () => {},
};

const homes = ["users/alice", `stores/${storeIdOf("alice")}`];
/** One home shows it for all. */
const isInEachHome = /^\.memcell\/(?:lock|turnstile|journal|owner)$/;
const template = temporaryFolder();
let places: string[] = [];

beforeAll(async () => {
  const dataDir = join(template.path, "data");
  {
    await using runtime = await open(dataDir);
    for (const use of first) await use(runtime);
  }
  places = homes.flatMap((home) =>
    readdirSync(join(dataDir, home), { recursive: true, encoding: "utf8" })
      .filter((path) => !path.includes("trash/") && !(home !== homes[0] && isInEachHome.test(path)))
      .map((path) => join(home, path)),
  );
  return () => template[Symbol.dispose]();
});

test(
  "whatever takes the place of a file or folder, the doctor finds it if a tool fails",
  { timeout: 300_000 },
  async () => {
    const silent: string[] = [];
    const unmended: string[] = [];
    let [tried, failing] = [0, 0];
    for (const place of places) {
      const isFolder = statSync(join(template.path, "data", place)).isDirectory();
      for (const [name, damage] of Object.entries(isFolder ? folderDamages : fileDamages)) {
        using folder = temporaryFolder();
        const [data, copy] = [join(folder.path, "data"), join(folder.path, "copy")];
        cpSync(join(template.path, "data"), data, { recursive: true });
        rmSync(join(data, place), { recursive: true });
        damage(join(data, place));
        cpSync(data, copy, { recursive: true, verbatimSymlinks: true });
        tried++;
        const { problems, failures } = await using(copy, lookAndUse);
        if (failures.length > 0) failing++;
        const what = `${place}: ${name}`;
        if (failures.length > 0 && problems.length === 0) silent.push(`${what}: ${failures.join("; ")}`);
        if (problems.length === 0 || !problems.every(({ remedy }) => remedy !== null)) continue;
        await using(data, (runtime) => runtime.upkeep.mend(ctx));
        // By another runtime: what is mended stays so.
        const mended = await using(data, lookAndUse);
        // What could not be read as a write-ahead log is kept for a person.
        const left = [...mended.problems.filter(({ problem }) => problem !== "wal-damaged"), ...mended.failures];
        if (left.length > 0) unmended.push(`${what}: ${JSON.stringify(left)}`);
      }
    }
    console.log(`${tried} damages, of which ${failing} make a tool fail`);
    expect(silent).toEqual([]);
    expect(unmended).toEqual([]);
    expect(failing).toBeGreaterThan(20);
  },
);

/** Looks first: what is used is repaired. */
const lookAndUse = async (runtime: Runtime) => ({
  problems: (await runtime.upkeep.inspect(ctx)).filter(isProblem),
  failures: await failuresIn(runtime),
});

async function using<Result>(dataDir: string, work: (runtime: Runtime) => Promise<Result>): Promise<Result> {
  await using runtime = await open(dataDir);
  return await work(runtime);
}

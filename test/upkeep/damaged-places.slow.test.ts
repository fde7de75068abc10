/**
 * The doctor tries what tools do. Each file and folder of a memory with all families is replaced by something else: if
 * then anything fails that worked before, the doctor names a problem. What it says it can mend works again afterwards.
 */
import { mkdirSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { createRuntime, storeIdOf } from "memcell";
import type { Finding, Runtime } from "memcell";
import { afterAll, expect, test } from "vitest";

import { temporaryFolder } from "../support/temporary-folder.ts";
import { shippedNames } from "../support/test-plugin.ts";
import { remove, upsert } from "./upkeep-stage.ts";

const clock = (): number => Date.UTC(2026, 0, 2);
const open = (dataDir: string): Promise<Runtime> =>
  createRuntime({ dataDir, plugins: shippedNames(), threadsMax: 1, clock });

interface User {
  readonly userId: string;
}
type Use = (runtime: Runtime, user: User) => Promise<unknown>;

/** Throws the failure of a call. */
const done =
  (tool: string, input: object): Use =>
  async (runtime, user) => {
    const isHosts = tool === "AppendRunEvents" || tool === "LoadRun";
    const result = await (isHosts ? runtime.callAsHost(tool, input, user) : runtime.call(tool, input, user));
    if (!result.ok) throw result.error;
  };

const put = (name: string): Use => done("UpdateUserMemory", upsert(name, "b"));
const take = (name: string): Use => done("UpdateUserMemory", remove(name));
const create = (path: string): Use => done("memory", { command: "create", path: `/memories/${path}`, content: "x" });
const append = (appendId: string): Use => {
  const event = { type: "user_message", timestamp: "2026-01-01T00:00:00.000Z", data: '{"message":"hi"}' };
  return done("AppendRunEvents", { agentId: "p", runId: "r", appendId, events: [event] });
};
const setInternal: Use = (runtime, user) => runtime.stores(user).setInternal(null, "k", { a: 1 }, { namespace: "app" });
const grant: Use = (runtime, user) => runtime.stores(user).grant(`bob-of-${user.userId}`, { level: "read" });

const first: readonly Use[] = [
  put("a"),
  put("gone"),
  take("gone"),
  done("memory_write", { key: "k", content: "c" }),
  create("note"),
  append("1"),
  setInternal,
  grant,
];

/** What the tools of all families do with it. An entry that is missing is no failure. */
const uses: readonly Use[] = [
  done("ReadUserMemory", { name: "a" }),
  (runtime, user) => runtime.memoryIndex(user),
  done("memory_read", { key: "k" }),
  done("memory_search", { query: "c" }),
  done("memory", { command: "view", path: "/memories" }),
  done("memory", { command: "view", path: "/memories/note" }),
  done("memory", { command: "search", query: "x" }),
  done("LoadRun", { agentId: "p", runId: "r" }),
  (runtime, user) => runtime.stores(user).getInternal(null, "k", { namespace: "app" }),
  put("b"),
  put("a"),
  take("a"),
  done("memory_write", { key: "k2", content: "c" }),
  create("note2"),
  done("memory", { command: "delete", path: "/memories/note" }),
  append("2"),
  setInternal,
  grant,
];

async function failuresIn(runtime: Runtime, user: User): Promise<string[]> {
  const failures: string[] = [];
  for (const use of uses) {
    try {
      await use(runtime, user);
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

const homesOf = ({ userId }: User): [string, string] => [`users/${userId}`, `stores/${storeIdOf(userId)}`];
/** One home shows it for all. */
const isInEachHome = /^\.memcell\/(?:lock|turnstile|journal|owner)$/;
const folder = temporaryFolder();
const dataDir = join(folder.path, "data");
afterAll(() => folder[Symbol.dispose]());

/** A place of a user's, below one of the homes. */
interface Place {
  readonly home: 0 | 1;
  readonly path: string;
}

interface Damage {
  readonly what: string;
  readonly place: Place;
  readonly make: (at: string) => void;
}

async function damages(): Promise<Damage[]> {
  const model = { userId: "model" };
  await haveMemories([model]);
  return homesOf(model).flatMap((folderOfHome, at) => {
    const home = at === 0 ? 0 : 1;
    const paths = readdirSync(join(dataDir, folderOfHome), { recursive: true, encoding: "utf8" });
    const places = paths.filter((path) => !path.includes("trash/") && !(home !== 0 && isInEachHome.test(path)));
    return places.flatMap((path) => {
      const isFolder = statSync(join(dataDir, folderOfHome, path)).isDirectory();
      return Object.entries(isFolder ? folderDamages : fileDamages).map(([name, make]) => {
        return { what: `${home === 0 ? "users" : "stores"}/${path}: ${name}`, place: { home, path }, make };
      });
    });
  });
}

/** Each user makes the same memory. Nothing is open afterwards. */
async function haveMemories(users: readonly User[]): Promise<void> {
  await using runtime = await open(dataDir);
  for (const user of users) {
    for (const use of first) await use(runtime, user);
  }
}

type Damaged = Damage & { readonly user: User };

/** A user for each damage, with a memory that has it. */
async function damaged(made: readonly Damage[]): Promise<Damaged[]> {
  const all = made.map((damage, at) => ({ ...damage, user: { userId: `user-${at}` } }));
  await haveMemories(all.map(({ user }) => user));
  for (const { user, place, make } of all) {
    const at = join(dataDir, homesOf(user)[place.home], place.path);
    rmSync(at, { recursive: true });
    make(at);
  }
  return all;
}

/** A write-ahead log to which a process has just written is only listed. */
const isProblem = ({ problem }: Finding): boolean => problem !== "wal-in-use";
const problemsOf = async (runtime: Runtime, user: User): Promise<Finding[]> =>
  (await runtime.upkeep.inspect(user)).filter(isProblem);

test(
  "whatever takes the place of a file or folder, the doctor finds it if a tool fails, and what it can mend works again",
  { timeout: 300_000 },
  async () => {
    const all = await damaged(await damages());
    const [silent, mended]: [string[], Damaged[]] = [[], []];
    let found = 0;
    {
      await using runtime = await open(dataDir);
      for (const damage of all) {
        // Looks first: what is used is repaired.
        const problems = await problemsOf(runtime, damage.user);
        if (problems.length > 0) found++;
        if (problems.length > 0 && problems.every(({ remedy }) => remedy !== null)) {
          await runtime.upkeep.mend(damage.user);
          mended.push(damage);
          continue;
        }
        const failures = await failuresIn(runtime, damage.user);
        if (failures.length > 0 && problems.length === 0) silent.push(`${damage.what}: ${failures.join("; ")}`);
      }
    }
    // By another runtime: what is mended stays so.
    await using runtime = await open(dataDir);
    const unmended: string[] = [];
    for (const { user, what } of mended) {
      // What could not be read as a write-ahead log is kept for a person, and a lost record is told for 90 days.
      const isTold = new Set(["wal-damaged", "runs-lost"]);
      const problems = (await problemsOf(runtime, user)).filter(({ problem }) => !isTold.has(problem));
      const left = [...problems, ...(await failuresIn(runtime, user))];
      if (left.length > 0) unmended.push(`${what}: ${JSON.stringify(left)}`);
    }
    expect(silent).toEqual([]);
    expect(unmended).toEqual([]);
    expect(found).toBeGreaterThan(20);
    expect(mended.length).toBeGreaterThan(10);
  },
);

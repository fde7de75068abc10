/**
 * The doctor tries what tools do. Each file and folder of a memory with all families is replaced by something else, a fifth
 * of them in each run: if then anything fails that worked before, the doctor names a problem. What it says it can mend works
 * again afterwards.
 */
import { mkdirSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import type { Finding, Runtime } from "memcell";
import { afterAll, expect, test } from "vitest";

import { oneIn } from "../stage/seed.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { fillAll, mark, openAll, ownStore } from "./four-families.ts";
import { remove, upsert } from "./upkeep-stage.ts";

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());
const dataDir = join(folder.path, "data");
const clock = (): number => Date.UTC(2026, 0, 2);
const open = (): Promise<Runtime> => openAll(dataDir, { clock });

interface User {
  readonly userId: string;
}
type Use = (runtime: Runtime, user: User) => Promise<unknown>;

/** Throws the failure of a call. */
const done =
  (tool: string, input: object): Use =>
  async (runtime, user) => {
    const isHosts = tool.startsWith("run-history/");
    const result = await (isHosts ? runtime.callAsHost(tool, input, user) : runtime.call(tool, input, user));
    if (!result.ok) throw result.error;
  };

const grant: Use = (runtime, user) => runtime.stores(user).grant(`bob-of-${user.userId}`, { level: "read" });
const ofRun = { agentId: "agent", runId: "run" };
const event = { type: "user_message", timestamp: "2026-01-01T00:00:00.000Z", data: '{"message":"hi"}' };

/** What the tools of all families do with what `fillAll` has made. An entry that is missing is no failure. */
const uses: readonly Use[] = [
  done("ReadUserMemory", { name: "kept" }),
  (runtime, user) => runtime.memoryIndex(user),
  done("memory_read", { key: "k" }),
  done("memory_search", { query: mark }),
  done("memory", { command: "view", path: "/memories" }),
  done("memory", { command: "view", path: "/memories/notes/kept.md" }),
  done("memory", { command: "search", query: mark }),
  done("run-history/LoadRun", ofRun),
  (runtime, user) => runtime.stores(user).getInternal(null, "key", { namespace: "app" }),
  done("UpdateUserMemory", upsert("b", "b")),
  done("UpdateUserMemory", upsert("kept", "b")),
  done("UpdateUserMemory", remove("kept")),
  done("memory_write", { key: "k2", content: "c" }),
  done("memory", { command: "create", path: "/memories/note", content: "x" }),
  done("memory", { command: "delete", path: "/memories/notes/kept.md" }),
  done("run-history/AppendRunEvents", { ...ofRun, appendId: "2", events: [event] }),
  (runtime, user) => runtime.stores(user).setInternal(null, "key", { a: 1 }, { namespace: "app" }),
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

/** What takes the place of a file, a folder, or either. */
const damages: readonly (readonly [what: string, of: "file" | "folder" | "either", make: (at: string) => void])[] = [
  ["an empty folder", "file", (at) => mkdirSync(at)],
  ["a folder with a file", "file", (at) => (mkdirSync(at), writeFileSync(join(at, "x.md"), "x"))],
  ["an empty file", "file", (at) => writeFileSync(at, "")],
  ["what is not text", "file", (at) => writeFileSync(at, Buffer.from([0xff, 0, 1]))],
  ["a link", "file", (at) => symlinkSync("/etc/hostname", at)],
  ["a file", "folder", (at) => writeFileSync(at, "x")],
  ["a link to a folder", "folder", (at) => symlinkSync("/etc", at)],
  ["nothing", "either", () => {}],
];

/** The user's folder, and that of the own store. */
const homesOf = (userId: string): string[] =>
  [`users/${userId}`, `stores/${ownStore(userId)}`].map((each) => join(dataDir, each));
/** One home shows it for all. */
const isInEachHome = /^\.memcell\/(?:lock|turnstile|journal|owner)$/;

async function fill(userIds: readonly string[]): Promise<void> {
  await using runtime = await openAll(dataDir, { clock, durability: "relaxed" });
  for (const userId of userIds) {
    await fillAll(runtime, userId);
    await grant(runtime, { userId });
  }
}

interface Damaged {
  readonly what: string;
  readonly user: User;
}

/** A user for each place and what takes it, with a memory of which that is true. */
async function damagedUsers(): Promise<Damaged[]> {
  await fill(["model"]);
  const all = homesOf("model").flatMap((home, at) => {
    const paths = readdirSync(home, { recursive: true, encoding: "utf8" });
    const places = paths.filter((path) => !path.includes("trash/") && !(at > 0 && isInEachHome.test(path)));
    return places.flatMap((path) => {
      const kind = statSync(join(home, path)).isDirectory() ? "folder" : "file";
      const ofKind = damages.filter(([, of]) => of === kind || of === "either");
      return ofKind.map(([name, , make]) => ({ what: `home ${at}, ${path}: ${name}`, at, path, make }));
    });
  });
  // No divisor of the number of damages: each part has all kinds of them.
  const tried = oneIn(5, all);
  await fill(tried.map((_, at) => `user-${at}`));
  return tried.map(({ what, at, path, make }, user) => {
    const userId = `user-${user}`;
    const place = join(homesOf(userId)[at] ?? "", path);
    rmSync(place, { recursive: true });
    make(place);
    return { what, user: { userId } };
  });
}

/** A journal to which a process has just written is only listed. */
const problemsOf = async (runtime: Runtime, user: User): Promise<Finding[]> =>
  (await runtime.upkeep.inspect(user)).filter(({ problem }) => problem !== "journal-in-use");

test(
  "whatever takes the place of a file or folder, the doctor finds it if a tool fails, and what it can mend works again",
  { timeout: 300_000 },
  async () => {
    const all = await damagedUsers();
    const [silent, unmended]: [string[], string[]] = [[], []];
    const mended: Damaged[] = [];
    let found = 0;
    {
      await using runtime = await open();
      for (const damaged of all) {
        const { what, user } = damaged;
        // Looks first: what is used is repaired.
        const problems = await problemsOf(runtime, user);
        if (problems.length > 0) found++;
        if (problems.length > 0 && problems.every(({ remedy }) => remedy !== null)) {
          await runtime.upkeep.mend(user);
          mended.push(damaged);
          continue;
        }
        const failures = await failuresIn(runtime, user);
        if (failures.length > 0 && problems.length === 0) silent.push(`${what}: ${failures.join("; ")}`);
      }
    }
    // By another runtime: what is mended stays so.
    await using runtime = await open();
    for (const { what, user } of mended) {
      // What could not be read as a journal is kept for a person, and a lost record is told for 90 days.
      const isTold = new Set(["journal-damaged", "runs-lost"]);
      const problems = (await problemsOf(runtime, user)).filter(({ problem }) => !isTold.has(problem));
      const left = [...problems, ...(await failuresIn(runtime, user))];
      if (left.length > 0) unmended.push(`${what}: ${JSON.stringify(left)}`);
    }
    console.log(`${all.length} tried, ${found} found, ${mended.length} mended`);
    expect({ silent, unmended }).toEqual({ silent: [], unmended: [] });
    expect(found).toBeGreaterThan(all.length / 3);
    expect(mended.length).toBeGreaterThan(all.length / 18);
  },
);

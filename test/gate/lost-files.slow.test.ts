/**
 * Each file that the host keeps of its own, in a home with everything, half of them in each run: removed, emptied, replaced
 * by an older copy, or by what nobody can read. None of that raises the trust of a text or of a run, and the owner goes on
 * writing. The files are those of a real folder: one that is not in the table fails the test.
 */
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { createRuntime, storeIdOf } from "memcell";
import type { Runtime, ToolResult } from "memcell";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { oneIn } from "../stage/seed.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { shippedNames } from "../support/test-plugin.ts";
import { inRun, owner, read, save, trusting, waits, web } from "./gate-stage.ts";

const losses = {
  removed: (path: string) => rmSync(path),
  emptied: (path: string) => truncateSync(path),
  unreadable: (path: string) => {
    rmSync(path);
    mkdirSync(path);
  },
} as const;
type Loss = keyof typeof losses | "older";

interface Known {
  readonly pattern: RegExp;
  /** When the doctor may be silent about it. Trust and the owner's writes are as with all others. */
  readonly quiet?: readonly Loss[];
  /** With something else in its place, calls are refused until somebody has looked at it. */
  readonly isNeeded?: true;
}

const always = ["removed", "emptied", "older"] as const;

/** Below a home. */
const table: readonly Known[] = [
  { pattern: /^\.memcell\/owner$/, isNeeded: true, quiet: ["older"] },
  // Nobody reaches more without it.
  { pattern: /^\.memcell\/creator$/, quiet: always },
  { pattern: /^\.memcell\/grants\.json$/, quiet: ["removed", "older"] },
  // They hold nothing, or what is measured again.
  { pattern: /^\.memcell\/(?:lock|turnstile)$/, isNeeded: true, quiet: always },
  { pattern: /^\.memcell\/sizes$/, quiet: always },
  { pattern: /^\.memcell\/journal\/\d+\.log$/, isNeeded: true, quiet: ["older"] },
  { pattern: /^\.memcell\/journal-head$/, isNeeded: true, quiet: ["older"] },
  // Old versions go when they are too many.
  { pattern: /^\.memcell\/journal\/0{11}1\.log\.gz$/, quiet: ["removed", "older"] },
  { pattern: /^\.memcell\/journal\/\d+\.log\.gz$/ },
  // That a former content is not kept is said when it is asked for.
  { pattern: /^\.memcell\/journal\/\d+\.contents\.gz$/, quiet: [...always, "unreadable"] },
  // It is made from the versions again.
  { pattern: /^\.memcell\/journal\/present\.json$/, quiet: [...always, "unreadable"] },
  { pattern: /^\.memcell\/runs\/trust\.json$/ },
  { pattern: /^\.memcell\/runs\/clock\.json$/, quiet: always },
  // What does not wait any more takes no effect.
  { pattern: /^\.memcell\/pending\/(?:w-[^/]*|decided)\.json$/, quiet: always },
];

const alice = owner("alice");

/** None is like the one before, so that segments become full. */
const long = (at: number): string =>
  Array.from({ length: 6_000 }, (_, line) => `${line * (at + 7)}-${at}`)
    .join(" ")
    .slice(0, 60_000);

let nowMs = Date.now();
const open = (dataDir: string, isLax = false): Promise<Runtime> =>
  createRuntime({
    dataDir,
    plugins: shippedNames(),
    threadsMax: 1,
    clock: () => nowMs,
    ...(isLax && { policy: trusting() }),
  });

let rich: ReturnType<typeof temporaryFolder>;
let older: ReturnType<typeof temporaryFolder>;

const homes = { alice: "users/alice", lost: "users/lost", store: `stores/${storeIdOf("alice")}` } as const;
type HomeName = keyof typeof homes;

beforeAll(async () => {
  rich = temporaryFolder();
  older = temporaryFolder();
  {
    await using lax = await open(rich.path, true);
    for (let at = 0; at < 40; at++) await save(lax, "notes", alice, long(at));
    await save(lax, "page", web("alice"));
    await save(lax, "mine", owner("lost"));
  }
  rmSync(join(rich.path, homes.lost, ".memcell", "journal"), { recursive: true });
  {
    await using runtime = await open(rich.path);
    await read(runtime, "page", inRun("alice", "first"));
    await save(runtime, "wait", web("alice"));
    await runtime.upkeep.reject(alice, await waits(save(runtime, "rejected", web("alice"))));
    await runtime.call("memory", { command: "create", path: "/memories/a.md", content: "x" }, alice);
    await save(runtime, "other", owner("lost"));
  }
  cpSync(rich.path, older.path, { recursive: true });
  {
    await using lax = await open(rich.path, true);
    await save(lax, "page", web("alice"), "again");
    await save(lax, "second", web("alice"));
    await fillStore(lax);
  }
  {
    await using runtime = await open(rich.path);
    await read(runtime, "page", inRun("alice", "r"));
    nowMs += 40 * 86_400_000;
    await save(runtime, "wait", web("alice"), "again");
  }
  // Made by hand after versions were lost: nobody knows where it comes from.
  const file = readFileSync(join(rich.path, homes.lost, "memory", "mine.md"), "utf8");
  writeFileSync(join(rich.path, homes.lost, "memory", "hand.md"), file.replace("name: mine", "name: hand"));
}, 120_000);

async function fillStore(lax: Runtime): Promise<void> {
  await lax.stores(alice).grant("bob", { level: "read" });
  await lax.stores(alice).grant("carl", { level: "read" });
  await lax.call("memory", { command: "create", path: "/memories/b.md", content: "x" }, web("alice"));
}

afterAll(() => {
  for (const folder of [rich, older]) folder[Symbol.dispose]();
});

function ownFiles(home: HomeName): string[] {
  const own = join(rich.path, homes[home], ".memcell");
  const all = readdirSync(own, { recursive: true, withFileTypes: true });
  const files = all.filter((entry) => entry.isFile());
  const paths = files.map(({ parentPath, name }) =>
    join(parentPath, name).slice(join(rich.path, homes[home]).length + 1),
  );
  // Of many segments, the first and the last.
  const ofSegments = (kind: string): string[] => paths.filter((path) => path.includes(`/${kind}-`)).toSorted();
  const skipped = new Set(["versions", "contents"].flatMap((kind) => ofSegments(kind).slice(1, -1)));
  return paths.filter((path) => !skipped.has(path));
}

/** What is worse than before. */
async function faultsOf(path: string, home: HomeName): Promise<string[]> {
  const faults: string[] = [];
  const userId = home === "lost" ? "lost" : "alice";
  const text = home === "lost" ? "hand" : "page";
  await using runtime = await open(path);
  const expectWaiting = async (what: string, result: Promise<ToolResult>): Promise<void> => {
    const answer = await result;
    if (answer.ok) faults.push(`${what} took effect`);
  };
  if (home === "alice")
    await expectWaiting("a write of a run that has read a page", save(runtime, "a", inRun("alice", "r")));
  const run = inRun(userId, "new");
  const view = { command: "view", path: "/memories/b.md" };
  const answer = await (home === "store" ? runtime.call("memory", view, run) : read(runtime, text, run));
  // Who gets no answer has read nothing.
  if (answer.ok) await expectWaiting("a write of a run that reads what is not trusted", save(runtime, "b", run));
  const written = await save(runtime, "by-owner", owner(userId));
  if (!written.ok) faults.push(`the owner cannot write: ${written.error.code} ${written.error.message}`);
  return faults;
}

const messagesOf = async (path: string, userId: string): Promise<string[]> => {
  await using runtime = await open(path);
  const found = await runtime.upkeep.inspect({ userId });
  return found.map(({ problem, path: at, message }) => `${problem} ${at} ${message}`);
};

describe.for(Object.keys(homes) as HomeName[])("the host's files of the home %s", (home) => {
  test("each lost file leaves trust as it was, and the doctor tells", { timeout: 900_000 }, async () => {
    const userId = home === "lost" ? "lost" : "alice";
    const faults: string[] = [];
    const before = new Set(await messagesOf(rich.path, userId));
    const files = ownFiles(home).map((file) => ({ file, known: table.find(({ pattern }) => pattern.test(file)) }));
    const unknown = files.filter(({ known }) => known === undefined);
    for (const { file, known } of new Set([...oneIn(2, files), ...unknown])) {
      if (known === undefined) faults.push(`${file} is in no row of the table: say what happens if it is lost`);
      for (const loss of [...Object.keys(losses), "older"] as Loss[]) {
        const old = join(older.path, homes[home], file);
        if (loss === "older" && !existsSync(old)) continue;
        using folder = temporaryFolder();
        cpSync(rich.path, folder.path, { recursive: true });
        const path = join(folder.path, homes[home], file);
        if (loss === "older") cpSync(old, path);
        else losses[loss](path);
        const told = (await messagesOf(folder.path, userId)).filter((message) => !before.has(message));
        const found = await faultsOf(folder.path, home).catch((error: unknown) => [`it threw ${String(error)}`]);
        const isRefused = loss === "unreadable" && known?.isNeeded === true;
        const worse = found.filter((fault) => !isRefused || !fault.includes("STORAGE_UNSAFE"));
        faults.push(...worse.map((fault) => `${file} ${loss}: ${fault}`));
        // A history that is lost already has no trust to lose.
        const isSilent = told.length === 0 && known?.quiet?.includes(loss) !== true;
        if (isSilent && home !== "lost") faults.push(`${file} ${loss}: the doctor is silent`);
      }
    }
    expect(faults).toEqual([]);
  });
});

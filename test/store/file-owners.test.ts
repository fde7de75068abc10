/** Files keep the owner, group and mode that a person gave them, whoever runs the host, and new ones follow their folder. */
import { execFileSync } from "node:child_process";
import { chmodSync, chownSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { createRuntime } from "memcell";
import type { Runtime } from "memcell";
import { afterEach, beforeEach, expect, test } from "vitest";

import { skipWithReason } from "../support/skip-with-reason.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const alice = { userId: "alice" };
const isRoot = process.getuid?.() === 0;

let folder: ReturnType<typeof temporaryFolder>;
beforeEach((context) => {
  if (process.platform === "win32") skipWithReason(context, "Windows has no owners and modes");
  folder = temporaryFolder();
});
afterEach(() => folder?.[Symbol.dispose]());

const dataDir = (): string => join(folder.path, "data");
const place = (...names: string[]): string => join(dataDir(), "users/alice", ...names);

function factsOf(path: string): string {
  const { uid, gid, mode } = statSync(path);
  return `${(mode & 0o7777).toString(8)} ${uid}:${gid}`;
}

/** As `chmod` and, if this is root, `chown` to user and group 1000. Returns what the test expects from then on. */
function give(path: string, mode: number): string {
  if (isRoot) chownSync(path, 1000, 1000);
  chmodSync(path, mode);
  return factsOf(path);
}

const openRuntime = (): Promise<Runtime> =>
  createRuntime({ dataDir: dataDir(), threadsMax: 1, plugins: ["user-memory", "journal", "stores"] });

async function must(runtime: Runtime, tool: string, input: object): Promise<void> {
  const result = await runtime.call(tool, input, alice);
  expect(result.ok ? "" : result.error.message).toBe("");
}

const upsert = (runtime: Runtime, name: string, body: string): Promise<void> =>
  must(runtime, "UpdateUserMemory", { action: "upsert", type: "user", name, description: "d", body });

const write = (runtime: Runtime, key: string, content: string): Promise<void> =>
  must(runtime, "memory_write", { key, content });

/** All that the user's folder has, but the host's own. */
const paths = (): string[] =>
  readdirSync(place(), { recursive: true, encoding: "utf8" }).filter((path) => !path.startsWith(".memcell"));

test("each file of each family keeps owner, group and mode when it is replaced", async () => {
  {
    await using runtime = await openRuntime();
    await upsert(runtime, "diet", "Eats meat");
    await write(runtime, "diet", "Eats meat");
    await must(runtime, "memory", { command: "create", path: "/memories/diet.md", content: "Eats meat" });
  }
  const files = paths().filter((path) => statSync(place(path)).isFile());
  expect(files).toContain("memory/MEMORY.md");
  const given = Object.fromEntries(files.map((path) => [path, give(place(path), 0o664)]));
  given["memory/MEMORY.md"] = give(place("memory/MEMORY.md"), 0o444);
  // Whoever runs a replaced file must not become its owner.
  given["memory/diet.md"] = give(place("memory/diet.md"), 0o4755).replace("4755", "755");
  {
    await using runtime = await openRuntime();
    await upsert(runtime, "diet", "Is vegan");
    await upsert(runtime, "pets", "Has a cat");
    await write(runtime, "pets", "Has a cat");
    await must(runtime, "memory", {
      command: "edit",
      path: "/memories/diet.md",
      old_str: "Eats meat",
      new_str: "Is vegan",
    });
  }
  expect(Object.fromEntries(files.map((path) => [path, factsOf(place(path))]))).toEqual(given);
});

test("an entry in the trash keeps them, and so does one that comes back", async () => {
  await using runtime = await openRuntime();
  await upsert(runtime, "diet", "Eats meat");
  const given = give(place("memory/diet.md"), 0o640);
  await must(runtime, "UpdateUserMemory", { action: "delete", name: "diet" });
  const [trashed = ""] = readdirSync(place("memory/trash"));
  expect(factsOf(place("memory/trash", trashed))).toBe(given);
  await runtime.upkeep.restore(alice, "diet");
  expect(factsOf(place("memory/diet.md"))).toBe(given);
});

test.for([
  { name: "of the owner alone", folderMode: 0o700, file: 0o600, below: 0o700 },
  { name: "that a group writes in", folderMode: 0o775, file: 0o660, below: 0o770 },
  { name: "that hands on its group", folderMode: 0o2770, file: 0o660, below: 0o2770 },
  { name: "that everybody writes in", folderMode: 0o777, file: 0o660, below: 0o770 },
])("new files and folders follow a folder $name", async ({ folderMode, file, below }) => {
  mkdirSync(place("memory"), { recursive: true });
  const given = give(place("memory"), folderMode);
  await using runtime = await openRuntime();
  await upsert(runtime, "diet", "Eats meat");
  await upsert(runtime, "pets", "Has a cat");
  await must(runtime, "UpdateUserMemory", { action: "delete", name: "pets" });
  const owner = given.split(" ")[1] ?? "";
  expect(factsOf(place("memory"))).toBe(given);
  for (const path of ["diet.md", "MEMORY.md"])
    expect(factsOf(place("memory", path))).toBe(`${file.toString(8)} ${owner}`);
  expect(factsOf(place("memory/trash"))).toBe(`${below.toString(8)} ${owner}`);
});

test("what root makes in a data folder belongs to its owner, who can go on alone", async (context) => {
  if (!isRoot) skipWithReason(context, "only root can give files away");
  mkdirSync(dataDir());
  chmodSync(folder.path, 0o755);
  give(dataDir(), 0o700);
  const log = join(folder.path, "logs/audit.jsonl");
  mkdirSync(join(folder.path, "logs"));
  give(join(folder.path, "logs"), 0o700);
  {
    await using runtime = await createRuntime({ dataDir: dataDir(), threadsMax: 1, auditLog: { file: log } });
    await upsert(runtime, "diet", "Eats meat");
  }
  const found = execFileSync("find", [folder.path, "-mindepth", "1", "!", "-user", "1000"], { encoding: "utf8" });
  expect(found).toBe("");
});

test("a file that somebody has put in the place of the host's own stays theirs", async (context) => {
  if (!isRoot) skipWithReason(context, "only root can give files away");
  mkdirSync(place(".memcell"), { recursive: true });
  for (const path of [dataDir(), join(dataDir(), "users"), place(), place(".memcell")]) give(path, 0o700);
  writeFileSync(place(".memcell/lock"), "", { mode: 0o600 });
  await using runtime = await openRuntime();
  await upsert(runtime, "diet", "Eats meat");
  expect(factsOf(place(".memcell/lock"))).toBe("600 0:0");
});

/** A copy is killed at several points, and another run completes it: no home is at the target in part. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { fileURLToPath } from "node:url";

import { createRuntime, fileStore, postgresStore } from "memcell";
import { afterAll, beforeAll, expect, test } from "vitest";

import { oneIn } from "../stage/seed.ts";
import { administratorOf, freshDatabase } from "../support/postgres/fresh-database.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { fillFolder } from "./filled-folder.ts";
import { copy, stateOf, treeOf } from "./stored-state.ts";

const program = fileURLToPath(new URL("../../dist/host/cli/main.js", import.meta.url));

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());
const data = join(folder.path, "data");
let full = "";
let state: unknown;

beforeAll(async () => {
  await fillFolder(data);
  full = await freshDatabase();
  expect(await copy(data, full)).toMatchObject({ status: 0 });
  state = await stateOf(fileStore({ dir: data }));
});

/** Kills a copy as soon as the target shows something. */
async function killWhen(from: string, to: string, isReached: () => boolean | Promise<boolean>): Promise<void> {
  const running = spawn(process.execPath, [program, "copy", "--from", from, "--to", to], { stdio: "ignore" });
  const ended = once(running, "exit");
  while (!(await isReached())) {
    if (running.exitCode !== null) throw new Error("The copy has ended before it could be killed");
    await setImmediate();
  }
  running.kill("SIGKILL");
  expect(await ended).toEqual([null, "SIGKILL"]);
}

const completed = {
  status: 0,
  stdout: expect.stringMatching(/^\d+ homes? copied, \d+ bytes; \d+ already there; 0 listed\n$/),
};

const namesIn = (dir: string): string[] => (existsSync(dir) ? readdirSync(dir) : []);
const homesIn = (dir: string): string[] =>
  ["users", "stores"].flatMap((above) => namesIn(join(dir, above)).filter((name) => !name.startsWith(".")));

/** What the home that is being written has so far. */
const stagedIn = (dir: string, ...below: string[]): boolean =>
  namesIn(join(dir, "users")).some(
    (name) => name.startsWith(".copying.") && existsSync(join(dir, "users", name, ...below)),
  );

const points = [
  { point: "a folder is made", isReached: (dir: string) => stagedIn(dir) },
  { point: "a scope is made", isReached: (dir: string) => stagedIn(dir, "memory") },
  { point: "a history is begun", isReached: (dir: string) => stagedIn(dir, ".memcell", "journal") },
  { point: "one home is there", isReached: (dir: string) => homesIn(dir).length > 0 },
  { point: "five homes are there", isReached: (dir: string) => homesIn(dir).length > 4 },
  { point: "ten homes are there", isReached: (dir: string) => homesIn(dir).length > 9 },
];

test.for(oneIn(3, points))("into a folder, killed when $point", async ({ isReached }) => {
  using target = temporaryFolder();
  const dir = join(target.path, "data");
  await killWhen(full, dir, () => isReached(dir));
  expect(await copy(full, dir)).toEqual(completed);
  expect(
    [...namesIn(join(dir, "users")), ...namesIn(join(dir, "stores"))].filter((name) => name.startsWith(".copying.")),
  ).toEqual([]);
  expect(treeOf(dir)).toEqual(treeOf(data));
  expect(await stateOf(fileStore({ dir }))).toEqual(state);
});

test.for(oneIn(2, [0, 1, 4, 9]))("into a database, killed when it has more than %i homes", async (homes) => {
  const url = await freshDatabase();
  const admin = await administratorOf(url);
  const count = "SELECT count(*)::int AS homes FROM memcell.homes";
  await killWhen(data, url, async () => ((await admin.query<{ homes: number }>(count)).rows[0]?.homes ?? 0) > homes);
  await admin.end();
  expect(await copy(data, url)).toEqual(completed);
  expect(await stateOf(postgresStore({ url }))).toEqual(state);
});

test.for([
  {
    when: "a host has started",
    work: async (dir: string) => {
      await using _runtime = await createRuntime({ dataDir: dir });
      while (stagedIn(dir)) await setImmediate();
    },
  },
  {
    when: "a user is erased",
    work: async (dir: string) => {
      await using runtime = await createRuntime({ dataDir: dir, retiresLeftOver: false });
      await expect(runtime.upkeep.erase({ userId: "nobody" })).rejects.toMatchObject({ code: "ENTRY_NOT_FOUND" });
    },
  },
])("what a killed copy has left is removed when $when", async ({ work }) => {
  using target = temporaryFolder();
  const dir = join(target.path, "data");
  await killWhen(full, dir, () => stagedIn(dir, "memory"));
  expect(stagedIn(dir)).toBe(true);
  await work(dir);
  expect(stagedIn(dir)).toBe(false);
});

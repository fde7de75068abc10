/** The doctor does not say that all is well while a tool cannot work. */
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { createRuntime } from "memcell";
import { expect, test } from "vitest";

import { temporaryFolder } from "../support/temporary-folder.ts";

const program = fileURLToPath(new URL("../../dist/host/cli/main.js", import.meta.url));

interface Said {
  readonly status: number | null;
  readonly stdout: string;
}

const upsert = { action: "upsert", name: "pref", type: "user", description: "Likes tea", body: "Green tea." };

/** A data folder with one entry of Alice's, which is then damaged. */
async function doctorOf(damage: (alice: string, users: string) => void, ...args: string[]): Promise<Said & Disposable> {
  const folder = temporaryFolder();
  {
    await using runtime = await createRuntime({ dataDir: folder.path, plugins: ["user-memory"], threadsMax: 1 });
    expect(await runtime.call("UpdateUserMemory", upsert, { userId: "alice" })).toMatchObject({ ok: true });
  }
  damage(join(folder.path, "users", "alice"), join(folder.path, "users"));
  const all = ["doctor", "--data", folder.path, "--plugin", "user-memory", ...args];
  const { status, stdout } = spawnSync(process.execPath, [program, ...all], { encoding: "utf8" });
  return { status, stdout, [Symbol.dispose]: () => folder[Symbol.dispose]() };
}

test("control: nothing is wrong", async () => {
  using said = await doctorOf(() => {});
  expect(said).toMatchObject({ status: 0, stdout: "1 user checked\n" });
});

test.for([
  {
    name: "the owner's record names somebody else",
    damage: (alice: string) => writeFileSync(join(alice, ".memcell", "owner"), "bob"),
    says: "users/alice: its record of the owner, .memcell/owner, names no user whose folder this is",
  },
  {
    name: "a folder's name is no user's",
    damage: (_alice: string, users: string) => mkdirSync(join(users, "al%2")),
    says: "users/al%2: its name names no user whose folder this is",
  },
  {
    name: "a link is among the users",
    damage: (alice: string, users: string) => symlinkSync(alice, join(users, "bob")),
    says: "users/bob: it is neither a file nor a folder",
  },
  {
    name: "the index is a folder",
    damage: (alice: string) => {
      rmSync(join(alice, "memory", "MEMORY.md"));
      mkdirSync(join(alice, "memory", "MEMORY.md"));
    },
    says: "memory/MEMORY.md: the index is not a file that can be opened",
  },
  {
    name: "the trash is a file",
    damage: (alice: string) => writeFileSync(join(alice, "memory", "trash"), "not a folder"),
    says: "memory/trash: it is not a folder, so nothing can go to the trash",
  },
])("$name", async ({ damage, says }) => {
  using said = await doctorOf(damage);
  expect(said.stdout).toContain(says);
  expect(said.stdout).toContain("needs a person");
  expect(said.status).toBe(1);
});

const empty = (alice: string): void => writeFileSync(join(alice, ".memcell", "owner"), "");

test("an empty record of the owner is found, and written again", async () => {
  using found = await doctorOf(empty);
  expect(found).toMatchObject({ status: 1, stdout: expect.stringContaining("no owner is recorded") });
  let owner = "";
  using mended = await doctorOf((alice) => {
    empty(alice);
    owner = join(alice, ".memcell", "owner");
  }, "--fix");
  expect(mended).toMatchObject({ status: 0, stdout: expect.stringContaining("mended: 1, left: 0") });
  expect(readFileSync(owner, "utf8")).toBe("alice");
});

test("names that begin with a dot are left to other programs", async () => {
  using said = await doctorOf((alice, users) => {
    mkdirSync(join(users, ".snapshots"));
    writeFileSync(join(users, "README"), "Data of memcell\n");
    renameSync(join(alice, "memory", "pref.md"), join(alice, "memory", ".pref.md.swp"));
    writeFileSync(join(alice, "memory", "MEMORY.md"), "");
  });
  expect(said).toMatchObject({ status: 0, stdout: "1 user checked\n" });
});

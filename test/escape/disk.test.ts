/** Files of a user that are no text, and the modes of what the host creates. Traps: `folder-states.test.ts`. */
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { afterAll, expect, test } from "vitest";

import { openStage } from "../stage/runtime.ts";
import { userFolder, writeUserFiles } from "../support/user-files.ts";

const stage = await openStage({ plugins: ["user-memory"], threadsMax: 1 });
afterAll(() => stage[Symbol.asyncDispose]());
const { dataDir, runtime } = stage;

const upsert = { action: "upsert", name: "x", type: "user", description: "d", body: "mine" };

/** A user with an entry `a`. Returns the id, and the folder of memory. */
function newUser(): readonly [userId: string, memory: string] {
  const userId = stage.user();
  writeUserFiles(dataDir, { [userId]: { "memory/a.md": "---\nname: x\ndescription: d\ntype: user\n---\nb" } });
  return [userId, join(userFolder(dataDir, userId), "memory")];
}

test("a file that is not UTF-8 is ENTRY_UNREADABLE, and upsert moves it to the trash byte for byte", async () => {
  const [userId, memory] = newUser();
  const latin1 = Buffer.from("---\ndescription: caf\xe9\ntype: user\n---\n", "latin1");
  writeFileSync(join(memory, "x.md"), latin1);
  const read = await runtime.call("ReadUserMemory", { name: "x" }, { userId });
  expect(read).toMatchObject({ ok: false, error: { code: "ENTRY_UNREADABLE" } });
  const written = await runtime.call("UpdateUserMemory", upsert, { userId });
  const { trashed } = (written as unknown as { data: { trashed: string } }).data;
  expect(trashed).toMatch(/^trash\/x\./);
  expect(readFileSync(join(memory, trashed))).toEqual(latin1);
});

test("an index that is not UTF-8 goes to the trash as it is, and the write goes on", async () => {
  const [userId, memory] = newUser();
  writeFileSync(join(memory, "MEMORY.md"), Buffer.from([0xff, 0xfe]));
  expect(await runtime.call("UpdateUserMemory", upsert, { userId })).toMatchObject({ ok: true });
  const trash = join(memory, "trash");
  expect(readdirSync(trash).map((name) => readFileSync(join(trash, name)))).toEqual([Buffer.from([0xff, 0xfe])]);
  expect(stage.files(userId)["memory/MEMORY.md"]).toContain("- [a](a.md) \u2014 ");
});

test("folders and files are created with access for the owner only", async () => {
  await runtime.call("UpdateUserMemory", upsert, { userId: "carol" });
  await runtime.call("UpdateUserMemory", { action: "delete", name: "x" }, { userId: "carol" });
  const home = userFolder(dataDir, "carol");
  const modes = execFileSync("find", [home, "-printf", "%y %m\n"], { encoding: "utf8" });
  expect(new Set(modes.trim().split("\n"))).toEqual(new Set(["d 700", "f 600"]));
});

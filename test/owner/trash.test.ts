/** The trash of all scopes for the data's owner: listed, restored, purged. */
import { linkSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { policyFor } from "../support/policy-for.ts";
import { shippedPlugin, testPlugin } from "../support/test-plugin.ts";
import { alice, allFiles, engines, openUpkeep, remove, upsert } from "./upkeep-stage.ts";

const day = 86_400_000;
const start = Date.UTC(2026, 0, 1);
const [early, late] = ["20200102T030405678Z", "20250102T030405678Z"];
const names = (files: readonly { name: string }[]): string[] => files.map(({ name }) => name);

test.for(engines)(
  "restore() puts an entry back byte for byte, with its line, by its name the latest: %s",
  async (engine) => {
    await using at = await openUpkeep(engine);
    await at.write(
      { ctx: alice, input: upsert("keep", "k") },
      { ctx: alice, input: upsert("a", "line\r\n--- \n\n", "d") },
    );
    const before = await allFiles(at);
    await at.write({ ctx: alice, input: remove("a") });
    const [file] = await at.upkeep.listTrash(alice);
    expect(file).toMatchObject({ name: "a.20260101T000000000Z.md", path: "a.md", epochMs: start });
    expect(await at.upkeep.restore(alice, file?.name ?? "")).toEqual(file);
    expect(await allFiles(at)).toEqual(before);
    for (const body of ["first", "second"]) {
      at.atMs += day;
      await at.write({ ctx: alice, input: upsert("a", body) }, { ctx: alice, input: remove("a") });
    }
    await at.upkeep.restore(alice, "a");
    expect(await at.runtime.call("ReadUserMemory", { name: "a" }, alice)).toMatchObject({ data: { body: "second" } });
    expect(names(await at.upkeep.listTrash(alice))).toEqual(["a.20260102T000000000Z.md"]);
  },
);

test("restore() refuses what is missing, what is not an entry, and a taken name; nothing changes", async () => {
  await using at = await openUpkeep();
  for (const input of [upsert("a", "old"), remove("a"), upsert("A", "new")]) await at.write({ ctx: alice, input });
  at.put({ [`memory/trash/MEMORY.${early}.md`]: "# mine", [`memory/trash/trash/x.${early}.md`]: "x" });
  at.put({ [`notes/trash/TRASH/x.${early}.md`]: "x", [`notes/trash/old.${early}.txt`]: "x" });
  const before = at.files();
  for (const [name, code, says] of [
    ["a", "NAME_CONFLICT", ""],
    ["b", "ENTRY_NOT_FOUND", ""],
    ["../../bob/memory/trash/a.20260101T000000000Z.md", "ENTRY_NOT_FOUND", ""],
    ["", "ENTRY_NOT_FOUND", ""],
    [`MEMORY.${early}.md`, "NAME_CONFLICT", ""],
    [`old.${early}.txt`, "TOOL_UNKNOWN", `Cannot restore "old.${early}.txt": no loaded plugin has the scope "notes"`],
    // Nobody would find it there.
    [`trash/x.${early}.md`, "INPUT_INVALID", '"trash/x.md", where it lay, is in the trash itself'],
    [`TRASH/x.${early}.md`, "INPUT_INVALID", '"TRASH/x.md", where it lay, is in the trash itself'],
  ] as const) {
    const message = expect.stringContaining(says) as string;
    await expect(at.upkeep.restore(alice, name)).rejects.toMatchObject({ code, message });
  }
  expect(at.files()).toEqual(before);
});

test("restore() puts back byte for byte what its plugin does not keep, and what is not text", async () => {
  await using at = await openUpkeep();
  at.put({ [`memory/trash/MEMORY.${early}.md`]: "# mine\r\n", [`memory/trash/x.${early}.txt`]: "x" });
  const bytes = Buffer.from([0xff, 0xfe, 0x00]);
  writeFileSync(join(at.home(), `memory/trash/b.${early}.md`), bytes);
  for (const { name } of await at.upkeep.listTrash(alice)) await at.upkeep.restore(alice, name);
  expect(at.files()).toMatchObject({ "memory/MEMORY.md": "# mine\r\n", "memory/x.txt": "x" });
  expect(readFileSync(join(at.home(), "memory/b.md"))).toEqual(bytes);
  expect(await at.upkeep.listTrash(alice)).toEqual([]);
});

test("a file that only its own plugin understands is restored unchanged, unless its place is taken", async () => {
  const plugins = [shippedPlugin("user-memory"), testPlugin("tally")];
  await using at = await openUpkeep("files", { plugins, policy: policyFor(plugins) });
  const name = `gone.${early}.md`;
  at.put({ [`tally/trash/${name}`]: "\u0000\r\nold", [`memory/trash/${name}`]: "x" });
  at.put({ "tally/Text.md": "there", [`tally/trash/text.${early}.md`]: "x" });
  // The same name in two scopes.
  const restored = await at.upkeep.restore(alice, name, { scope: "tally" });
  expect(restored).toMatchObject({ scope: "tally", path: "gone.md" });
  const files = at.files();
  expect(files).toMatchObject({ "tally/gone.md": "\u0000\r\nold", [`memory/trash/${name}`]: "x" });
  expect(files).not.toHaveProperty([`tally/trash/${name}`]);
  const message = `Cannot restore "text.${early}.md": "Text.md" is in the place of "text.md"`;
  await expect(at.upkeep.restore(alice, `text.${early}.md`)).rejects.toMatchObject({ code: "NAME_CONFLICT", message });
  // Its plugin calls no file an entry.
  const entry = at.upkeep.restore(alice, "text", { scope: "tally" });
  await expect(entry).rejects.toMatchObject({ code: "ENTRY_NOT_FOUND" });
  expect(at.files()).toEqual(files);
});

test("the trash of every scope is listed and purged of what is older than requested; a name alone is an entry's", async () => {
  await using at = await openUpkeep("files", { plugins: ["user-memory"] });
  at.put({ "memory/MEMORY.md": "", [`memory/trash/a.${early}.md`]: "1", "notes/a.md": "kept" });
  at.put({ [`notes/trash/a.${late}.md`]: "22", [`notes/trash/old.${early}.txt`]: "333" });
  const listed = await at.upkeep.listTrash(alice);
  expect(listed.map(({ scope, name, path }) => ({ scope, name, path }))).toEqual([
    { scope: "notes", name: `a.${late}.md`, path: "a.md" },
    { scope: "notes", name: `old.${early}.txt`, path: "old.txt" },
    { scope: "memory", name: `a.${early}.md`, path: "a.md" },
  ]);
  // The one in notes would be the latest.
  expect(await at.upkeep.restore(alice, "a")).toMatchObject({ scope: "memory", name: `a.${early}.md` });
  at.put({ [`memory/trash/b.${early}.md`]: "1" });
  const purged = await at.upkeep.purge(alice, { beforeEpochMs: Date.UTC(2025, 0, 2, 3, 4, 5, 678) });
  expect(purged.map(({ scope, name }) => `${scope} ${name}`)).toEqual([
    `notes old.${early}.txt`,
    `memory b.${early}.md`,
  ]);
  expect(Object.keys(at.files())).toEqual([
    "memory/MEMORY.md",
    "memory/a.md",
    "notes/a.md",
    `notes/trash/a.${late}.md`,
  ]);
});

test("a scope that is a link is not listed, purged or exported, and the doctor reports it", async () => {
  await using at = await openUpkeep();
  at.put({ "memory/MEMORY.md": "" });
  at.put({ [`notes/trash/b.${early}.md`]: "b" }, "bob");
  symlinkSync(join(at.home("bob"), "notes"), join(at.home(), "notes"));
  expect(await at.upkeep.listTrash(alice)).toEqual([]);
  expect(await at.upkeep.purge(alice, { beforeEpochMs: Date.now() })).toEqual([]);
  expect(await allFiles(at)).toEqual({ "memory/MEMORY.md": "" });
  expect(at.files("bob")).toEqual({ [`notes/trash/b.${early}.md`]: "b" });
  expect(await at.upkeep.inspect(alice)).toMatchObject([{ problem: "not-a-plain-file", path: "notes" }]);
});

test("whatever counts in the trash is listed, restored and purged: files put there by hand, and files of any size", async () => {
  await using at = await openUpkeep();
  await at.write({ ctx: alice, input: upsert("keep", "k") });
  at.put({ "memory/trash/mine.md": "Mine.\n", "memory/trash/old/gone.md": "Gone.\n" });
  const trash = join(at.home(), "memory/trash");
  const large = "large.20260101T000000000Z.md";
  mkdirSync(trash, { recursive: true });
  writeFileSync(join(trash, large), "x".repeat(3 * 2 ** 20));
  linkSync(join(at.home(), "memory/keep.md"), join(trash, "linked.md"));
  const since = Date.now();
  const found = await at.upkeep.listTrash(alice);
  expect(names(found).toSorted()).toEqual([large, "linked.md", "mine.md", "old/gone.md"]);
  const mine = found.find(({ name }) => name === "mine.md");
  expect(mine).toMatchObject({ scope: "memory", path: "mine.md", bytes: 6 });
  expect(Math.abs(since - (mine?.epochMs ?? 0))).toBeLessThan(day);
  await at.upkeep.restore(alice, "mine.md");
  expect(at.files()["memory/mine.md"]).toBe("Mine.\n");
  expect(await at.upkeep.purge(alice, { beforeEpochMs: since + day })).toHaveLength(3);
  expect(await at.upkeep.listTrash(alice)).toEqual([]);
  expect(at.files()["memory/keep.md"]).toContain("k");
});

/** Texts that a person wrote, without a tool: in the next prompt, through an import, the doctor, an upsert and the trash. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";

import { createRuntime } from "memcell";
import type { Runtime } from "memcell";
import { expect, test } from "vitest";

import { asMemoryFiles, entryText } from "../support/memory-files.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { readUserFiles, userFolder, writeUserFiles } from "../support/user-files.ts";

const alice = { userId: "alice" };
const clock = (): number => Date.UTC(2026, 0, 2, 3, 4, 5);
const stamp = "20260102T030405000Z";

const notes = {
  "trip.md": "\uFEFF# Trip to Kyoto\r\n\r\n- Trains\r\n",
  "diet.md": "No nuts.\n",
  "tagged.md": "---\ntags: [work, idea]\n---\n## An idea\n",
};
const lines = {
  "diet.md": "- [diet](diet.md) \u2014 No nuts.\n",
  "tagged.md": "- [tagged](tagged.md) \u2014 An idea\n",
  "trip.md": "- [trip](trip.md) \u2014 Trip to Kyoto\n",
};
const allLines = Object.values(lines).join("");

const inMemory = (files: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(files).map(([path, text]) => [`memory/${path}`, text]));

async function withFiles(files: Record<string, string>, work: (runtime: Runtime, dataDir: string) => Promise<void>) {
  using folder = temporaryFolder();
  writeUserFiles(folder.path, { alice: inMemory(files) });
  await using runtime = await createRuntime({ dataDir: folder.path, threadsMax: 1, clock });
  await work(runtime, folder.path);
}

test("a text is in the next prompt, its description follows it, and nothing is written", async () => {
  await withFiles({ "MEMORY.md": "", ...notes }, async (runtime, dataDir) => {
    expect(await runtime.memoryIndex(alice)).toContain(`\n${allLines}</user_memory_index>`);
    expect(readUserFiles(dataDir, "alice")).toEqual(inMemory({ "MEMORY.md": "", ...notes }));
    writeUserFiles(dataDir, { alice: inMemory({ "diet.md": "# Eats nuts again\n", "later.md": "Later" }) });
    expect(await runtime.memoryIndex(alice)).toContain(
      "\n- [diet](diet.md) \u2014 Eats nuts again\n- [later](later.md) \u2014 Later\n- [tagged]",
    );
    expect(await runtime.readEntry({ family: "user-memory", name: "trip" }, alice)).toMatchObject({
      body: notes["trip.md"],
    });
  });
});

test("an import of plain texts brings them byte for byte, and an export gives them back", async () => {
  await withFiles({ "mine.md": "# Mine\n" }, async (runtime, dataDir) => {
    const files = asMemoryFiles(notes);
    const plan = await runtime.upkeep.import(alice, files);
    expect(plan).toMatchObject({ refused: [], created: Object.keys(notes).map((path) => `memory/${path}`) });
    const after = {
      "mine.md": "# Mine\n",
      ...notes,
      "MEMORY.md": allLines.replace("- [tagged]", "- [mine](mine.md) \u2014 Mine\n- [tagged]"),
    };
    expect(readUserFiles(dataDir, "alice")).toEqual(inMemory(after));
    const exported = await runtime.upkeep.export(alice);
    await runtime.upkeep.import({ userId: "bob" }, exported.files);
    expect(readUserFiles(dataDir, "bob")).toEqual(inMemory(after));
  });
});

test("the first upsert moves the text to the trash, from where it can be restored; the second does not", async () => {
  await withFiles({ "MEMORY.md": lines["trip.md"], "trip.md": notes["trip.md"] }, async (runtime, dataDir) => {
    const upsert = (body: string) =>
      runtime.call(
        "UpdateUserMemory",
        { action: "upsert", name: "trip", type: "project", description: "d", body },
        alice,
      );
    expect(await upsert("one")).toMatchObject({ ok: true, data: { trashed: `trash/trip.${stamp}.md` } });
    expect(await upsert("two")).toMatchObject({ ok: true, data: { trashed: null } });
    expect(readUserFiles(dataDir, "alice")[`memory/trash/trip.${stamp}.md`]).toBe(notes["trip.md"]);
    await runtime.call("UpdateUserMemory", { action: "delete", name: "trip" }, alice);
    await runtime.upkeep.restore(alice, `trip.${stamp}.md`, { scope: "memory" });
    const files = readUserFiles(dataDir, "alice");
    expect(files["memory/trip.md"]).toBe(notes["trip.md"]);
    expect(files["memory/MEMORY.md"]).toBe(lines["trip.md"]);
  });
});

test("the doctor completes the texts, which stay byte for byte below the new front matter", async () => {
  await withFiles({ "MEMORY.md": "", ...notes }, async (runtime, dataDir) => {
    expect((await runtime.upkeep.inspect(alice)).map(({ path, problem }) => `${path} ${problem}`)).toEqual(
      Object.keys(lines).flatMap((path) => [`memory/${path} entry-incomplete`, `memory/${path} entry-without-line`]),
    );
    await runtime.upkeep.mend(alice);
    expect(await runtime.upkeep.inspect(alice)).toEqual([]);
    const files = readUserFiles(dataDir, "alice");
    expect(files["memory/MEMORY.md"]).toBe(allLines);
    expect(files["memory/trip.md"]?.endsWith(`---\n${notes["trip.md"]}`)).toBe(true);
    expect(files["memory/tagged.md"]?.endsWith("tags: [work, idea]\n---\n## An idea\n")).toBe(true);
    for (const [path, text] of Object.entries(notes)) {
      expect(files[`memory/trash/${path.replace(".md", `.${stamp}.md`)}`]).toBe(text);
    }
  });
});

test("the doctor says how to rename a file that is no entry because of its name", async () => {
  const files = {
    "My notes.md": "x",
    "Über.md": "x",
    "notes.txt": "x",
    "sub/c.md": "x",
    "v1.2.md": "x",
    "photo.png": "x",
  };
  await withFiles(files, async (runtime) => {
    const found = await runtime.upkeep.inspect(alice);
    const advice = Object.fromEntries(
      found.map(({ path, message }) => [path, message.split("; ").slice(1).join("; ")]),
    );
    expect(advice).toEqual({
      "memory/My notes.md": 'rename it, for example to "My-notes.md"',
      "memory/Über.md": 'rename it, for example to "Uber.md"',
      "memory/notes.txt": "to make it an entry, rename it to notes.md",
      "memory/sub/c.md": "to make it an entry, move it to c.md",
      "memory/v1.2.md": "to make it an entry, rename it to v1-2.md",
      "memory/photo.png": "",
    });
    expect(found.every(({ remedy }) => remedy === null)).toBe(true);
  });
});

test("a text that is written while a large change set takes effect is in the trash", async () => {
  using folder = temporaryFolder();
  await using runtime = await createRuntime({ dataDir: folder.path });
  const names = Array.from({ length: 400 }, (_, at) => `entry-${at}`);
  const filesWith = (body: string) =>
    names.map((name) => ({ scope: "memory", path: `${name}.md`, content: Buffer.from(entryText(name) + body) }));
  await runtime.upkeep.import({ userId: "alice" }, filesWith("old"));
  const memory = join(userFolder(folder.path, "alice"), "memory");
  const fileOf = (name: string | undefined): string => join(memory, `${name}.md`);
  const isNew = (name: string): boolean => readIfThere(fileOf(name)).endsWith("new");
  const over = new AbortController();
  // Looks between any two pieces of the work. The old files go to the trash first, then the new ones come, in order.
  const edit = async (): Promise<boolean> => {
    while (!over.signal.aborted) {
      await setImmediate();
      if (existsSync(fileOf(names.at(-1))) || !existsSync(fileOf(names[0]))) continue;
      writeFileSync(fileOf(names.at(-1)), "By the person");
      return true;
    }
    return false;
  };
  const editing = edit();
  await runtime.upkeep.import({ userId: "alice" }, filesWith("new"), { replace: true });
  over.abort();
  expect(await editing).toBe(true);
  expect(names.filter((name) => !isNew(name))).toEqual([]);
  const trashed = readdirSync(join(memory, "trash")).map((name) => readFileSync(join(memory, "trash", name), "utf8"));
  expect(trashed).toContain("By the person");
});

const readIfThere = (path: string): string => (existsSync(path) ? readFileSync(path, "utf8") : "");

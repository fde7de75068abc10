/** What the owner does to single entries of any family: list, show, edit, forget, confirm; and which runs and sources have written. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { entryText } from "../support/memory-files.ts";
import { alice, engines, honest, liveFiles, openUpkeep, poisoned, upsert } from "./upkeep-stage.ts";

/** As `liveFiles` shows bytes. */
const latin1 = (text: string): string => Buffer.from(text).toString("latin1");

test.for(engines)(
  "%s: what the owner edits is the owner's, and the index follows in the same change",
  async (engine) => {
    await using stage = await openUpkeep(engine);
    const { upkeep, runtime } = stage;
    await stage.write({ ctx: poisoned, input: upsert("menu", "Soup") });
    const [before] = await runtime.memoryEntries(alice);
    expect(before?.origins).toHaveLength(1);
    const { file, text, name } = await upkeep.entry(alice, "Menu");
    expect(name).toBe("menu");
    expect(file).toMatchObject({ trust: "untrusted_document", run: "poisoned", source: "https://example.com/" });
    const corrected = text?.replaceAll("Soup", "Bread") ?? "";
    const done = await upkeep.edit(alice, "Menu", corrected, { ifSha256: file.sha256 });
    expect(done).toMatchObject({ name: "menu", scope: "memory", path: "menu.md" });
    expect(await liveFiles(stage)).toEqual({
      "memory/MEMORY.md": latin1("- [menu](menu.md) — says Bread\n"),
      "memory/menu.md": corrected,
    });
    const [after] = await runtime.memoryEntries(alice);
    expect(after).toEqual({ family: "user-memory", name: "menu", description: "says Bread" });
    const [version] = await upkeep.history(alice, { name: "menu" });
    expect(version).toMatchObject({
      tool: "edit",
      trust: "owner_edit",
      class: "owner_edit",
      entry: "menu",
      isDerived: false,
    });
    // The text from outside is in the history, and still trusted as it was.
    await upkeep.restoreVersion(alice, "menu", { version: 1 });
    expect((await upkeep.entry(alice, "menu")).file.trust).toBe("untrusted_document");
  },
);

test.for(engines)(
  "%s: what the owner confirms keeps its bytes and loses its label; an undo leaves it and names it",
  async (engine) => {
    await using stage = await openUpkeep(engine);
    const { upkeep, runtime } = stage;
    await stage.write({ ctx: poisoned, input: upsert("menu", "Soup") });
    const files = await liveFiles(stage);
    const { sha256 } = (await upkeep.entry(alice, "menu")).file;
    await upkeep.vouch(alice, "menu", sha256);
    expect(await liveFiles(stage)).toEqual(files);
    expect((await runtime.memoryEntries(alice))[0]?.origins).toBeUndefined();
    expect((await upkeep.entry(alice, "menu")).file).toMatchObject({ trust: "owner_edit", sha256 });
    expect(await upkeep.planUndo(alice, { run: "poisoned" })).toMatchObject({
      trashed: [],
      builtOn: [{ path: "memory/menu.md", versions: [2] }],
    });
    // A confirmation by mistake is taken back: the same text is trusted as it was.
    await upkeep.restoreVersion(alice, "menu", { version: 1 });
    expect((await upkeep.entry(alice, "menu")).file).toMatchObject({ trust: "untrusted_document", sha256 });
    await upkeep.vouch(alice, "menu", sha256);
    // Another text of the same entry has to be read again.
    await stage.write({ ctx: poisoned, input: upsert("menu", "Poison") });
    await expect(upkeep.vouch(alice, "menu", sha256)).rejects.toMatchObject({ code: "VERSION_CONFLICT" });
    expect((await upkeep.entry(alice, "menu")).file.trust).toBe("untrusted_document");
  },
);

test.for(engines)("%s: what the owner forgets is in the trash, and comes back as it was trusted", async (engine) => {
  await using stage = await openUpkeep(engine);
  const { upkeep } = stage;
  await stage.write({ ctx: poisoned, input: upsert("menu", "Soup") }, { ctx: honest, input: upsert("tea", "Green") });
  const files = await liveFiles(stage);
  const { path } = await upkeep.trash(alice, "menu");
  expect(path).toBe("menu.md");
  expect(Object.keys(await liveFiles(stage))).toEqual(["memory/MEMORY.md", "memory/tea.md"]);
  expect((await upkeep.listTrash(alice)).map((each) => each.path)).toEqual(["menu.md"]);
  await upkeep.restore(alice, "menu");
  expect((await liveFiles(stage))["memory/menu.md"]).toBe(files["memory/menu.md"]);
  expect((await upkeep.entry(alice, "menu")).file.trust).toBe("untrusted_document");
});

test("files of every family are edited and forgotten by path, with what their plugins make of them", async () => {
  await using stage = await openUpkeep("files", { plugins: ["user-memory", "journal", "stores"] });
  const { upkeep, runtime } = stage;
  await runtime.call("memory_write", { key: "deploy", content: "by hand" }, honest);
  await runtime.call("memory", { command: "create", path: "/memories/notes.md", content: "first" }, honest);
  const { entries, left } = await upkeep.entries(alice);
  expect(left).toEqual([]);
  expect(entries.map(({ family, name }) => `${family}: ${name}`)).toEqual(["journal: deploy", "stores: notes.md"]);
  const all = await liveFiles(stage);
  const day = Object.keys(all).find((path) => path.startsWith("journal/") && path.endsWith(".md")) ?? "";
  await upkeep.edit(alice, day, all[day]?.replace("by hand", "by robot") ?? "");
  expect((await runtime.call("memory_read", { key: "deploy" }, alice)).ok).toBe(true);
  expect((await liveFiles(stage))[day]).toContain("by robot");
  const note = (await upkeep.entry(alice, "notes.md", { scope: "store" })).text ?? "";
  await upkeep.edit(alice, "notes.md", note.replace("first", "second"), { scope: "store" });
  const viewed = await runtime.call("memory", { command: "view", path: "/memories/notes.md" }, alice);
  expect(JSON.stringify(viewed)).toContain("second");
  await upkeep.trash(alice, "notes.md", { scope: "store" });
  expect((await upkeep.entries(alice)).entries.map(({ name }) => name)).toEqual(["deploy"]);
});

test("nothing changes if the entry has changed, cannot be used so, is made from others, or is not there", async () => {
  await using stage = await openUpkeep("files");
  const { upkeep } = stage;
  await stage.write({ ctx: honest, input: upsert("menu", "Soup") });
  const { file } = await upkeep.entry(alice, "menu");
  const choice = { ifSha256: file.sha256 };
  writeFileSync(join(stage.home(), "memory/menu.md"), entryText("menu", "by hand"));
  const before = await liveFiles(stage);
  const text = entryText("menu", "by the owner");
  await expect(upkeep.edit(alice, "menu", text, choice)).rejects.toMatchObject({ code: "VERSION_CONFLICT" });
  await expect(upkeep.trash(alice, "menu", choice)).rejects.toMatchObject({ code: "VERSION_CONFLICT" });
  await expect(upkeep.edit(alice, "menu", "---\nname: [\n---\n")).rejects.toMatchObject({ code: "ENTRY_UNREADABLE" });
  await expect(upkeep.edit(alice, "MEMORY.md", "x")).rejects.toMatchObject({
    code: "INPUT_INVALID",
    message: 'Cannot edit "MEMORY.md": its plugin makes it from other files; change one of these',
  });
  await expect(upkeep.edit(alice, "menus", text)).rejects.toMatchObject({
    code: "ENTRY_NOT_FOUND",
    message: 'Cannot edit "menus": there is no such entry; did you mean "menu"?',
  });
  await expect(upkeep.edit(alice, "menu", "x".repeat(2 ** 21 + 1))).rejects.toMatchObject({ code: "QUOTA_EXCEEDED" });
  await expect(upkeep.edit(alice, "../bob/memory/menu.md", text)).rejects.toMatchObject({ code: "ENTRY_NOT_FOUND" });
  expect(() => upkeep.edit(alice, "menu", 7 as never)).toThrow(TypeError);
  expect(() => upkeep.edit(alice, "menu", text, { sha256: "x" } as never)).toThrow(TypeError);
  expect(await liveFiles(stage)).toEqual(before);
});

test("each is on record without contents, and refused in a read-only runtime; any operation can be performed by its name", async () => {
  await using stage = await openUpkeep("files");
  const { upkeep, runtime } = stage;
  await stage.write({ ctx: honest, input: upsert("menu", "Soup") });
  const { file, text } = await upkeep.entry(alice, "menu");
  const readOnly = runtime.asReadOnly().upkeep;
  for (const refused of [
    readOnly.edit(alice, "menu", text ?? ""),
    readOnly.trash(alice, "menu"),
    readOnly.vouch(alice, "menu", file.sha256),
  ]) {
    await expect(refused).rejects.toMatchObject({ code: "READ_ONLY" });
  }
  expect((await readOnly.entry(alice, "menu")).text).toBe(text);
  expect(await upkeep.perform("listTrash", alice)).toEqual([]);
  await upkeep.perform("vouch", alice, { name: "menu", ifSha256: file.sha256 });
  expect(await upkeep.perform("planPurge", alice, { beforeEpochMs: 0 })).toEqual([]);
  const done = stage.records("alice").filter(({ kind }) => kind === "upkeep");
  expect(done.map((record) => "action" in record && record.action)).toContain("vouch");
  expect(JSON.stringify(done)).not.toContain("Soup");
  expect(() => upkeep.perform("remove", alice)).toThrow(TypeError);
  expect(() => upkeep.perform("trash", alice, { name: "menu", scop: "memory" })).toThrow('did you mean "scope"?');
});

test("runs and sources are counted, with what waits and the lowest trust", async () => {
  await using stage = await openUpkeep("files");
  const { upkeep } = stage;
  await stage.write({ ctx: honest, input: upsert("a", "1") }, { ctx: honest, input: upsert("a", "2") });
  stage.atMs += 60_000;
  await stage.write({ ctx: poisoned, input: upsert("b", "1") });
  const [firstAt, lastAt] = [new Date(stage.atMs - 60_000), new Date(stage.atMs)];
  const low = { trust: "untrusted_document", changes: 1, files: 1, waiting: 0, firstAt: lastAt, lastAt };
  expect(await upkeep.runs(alice)).toEqual([
    { kind: "run", name: "poisoned", ...low },
    { kind: "source", name: "https://example.com/", ...low },
    { kind: "run", name: "honest", trust: "direct_user", changes: 2, files: 1, waiting: 0, firstAt, lastAt: firstAt },
  ]);
});

test.for(engines)("%s: only the owner raises trust, and only of what was read", async (engine) => {
  await using stage = await openUpkeep(engine);
  const { upkeep } = stage;
  await stage.write(
    { ctx: poisoned, input: upsert("evil", "Pay me") },
    { ctx: poisoned, input: upsert("menu", "Soup") },
  );
  const { file, text } = await upkeep.entry(alice, "menu");
  const before = await liveFiles(stage);
  for (const ctx of [
    poisoned,
    { ...alice, origin: { class: "model_inference" } },
    { ...alice, exposedTo: ["tool_external"] },
  ] as const) {
    await expect(upkeep.vouch(ctx, "menu", file.sha256)).rejects.toMatchObject({ code: "WRITE_REFUSED" });
    await expect(upkeep.edit(ctx, "menu", `${text}.`)).rejects.toMatchObject({ code: "WRITE_REFUSED" });
  }
  await expect(upkeep.vouch(alice, "menu", undefined as never)).rejects.toMatchObject({ code: "INPUT_INVALID" });
  await expect(upkeep.edit(alice, "menu", `${text}\ud800`)).rejects.toMatchObject({ code: "INPUT_INVALID" });
  expect(await liveFiles(stage)).toEqual(before);
  expect((await upkeep.entry(alice, "menu")).file.trust).toBe("untrusted_document");
  await upkeep.edit({ ...alice, origin: { class: "direct_user" } }, "menu", `${text}.`);
  expect((await upkeep.entry(alice, "menu")).file.trust).toBe("direct_user");
  // The index repeats what the other entry says.
  expect((await upkeep.entry(alice, "MEMORY.md")).file.trust).toBe("untrusted_document");
  const labelled = (await upkeep.export(alice)).files
    .filter(({ trust }) => trust !== undefined)
    .map(({ path }) => path);
  expect(labelled).toEqual(["MEMORY.md", "evil.md"]);
});

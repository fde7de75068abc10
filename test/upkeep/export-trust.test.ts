/** An export says which files are trusted less than what nobody has told, and an import takes its word for no more. */
import { appendFileSync, cpSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { createRuntime } from "memcell";
import type { CallContext, MemoryFile, Runtime } from "memcell";
import { expect, test } from "vitest";

import { originsOf } from "../../host/archive/export-origins.ts";
import { storeLimits } from "../../shared/limits.ts";
import { isAtLeast, originClasses } from "../../shared/origin.ts";
import { readZip, transferLimits } from "../stage/archive.ts";
import { runCommand } from "../support/run-command.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { userFolder } from "../support/user-files.ts";
import { zippedBytes } from "../support/zipped-bytes.ts";
import { alice, honest, openUndoStage, poisoned, remove, upsert } from "./undo-stage.ts";

const cli = fileURLToPath(new URL("../../dist/host/cli/main.js", import.meta.url));
const memcell = (args: readonly string[]): Promise<string> => runCommand(process.execPath, [cli, ...args]);

const trusts = (files: readonly MemoryFile[]): Record<string, string> =>
  Object.fromEntries(files.flatMap(({ scope, path, trust }) => (trust ? [[`${scope}/${path}`, trust]] : [])));

async function trustsOf(runtime: Runtime, ctx: CallContext): Promise<Record<string, string>> {
  const versions = await runtime.upkeep.history(ctx);
  return Object.fromEntries(
    versions.toReversed().flatMap(({ scope, path, sha256, trust }) => {
      return sha256 === null ? [] : [[`${scope}/${path}`, trust]];
    }),
  );
}

test("a memory goes through a zip file to another user and back, and no file is trusted more", async () => {
  await using stage = await openUndoStage("files");
  const { upkeep } = stage.runtime;
  await stage.write({ ctx: honest, input: upsert("mine", "said") }, { ctx: poisoned, input: upsert("page", "evil") });
  await stage.write({ ctx: poisoned, input: upsert("gone", "bad") }, { ctx: honest, input: remove("gone") });
  const note = { command: "create", path: "/memories/note.md", content: "bad" };
  expect(await stage.runtime.call("memory", note, poisoned)).toMatchObject({ ok: true });
  const { files } = await upkeep.export(alice);
  const low = Object.keys(trusts(files));
  expect(low).toEqual(expect.arrayContaining(["memory/page.md", "store/note.md"]));
  expect(low.filter((path) => path.startsWith("memory/trash/gone."))).toHaveLength(1);
  expect(low).not.toContain("memory/mine.md");
  expect(await readZip(await zippedBytes(files))).toEqual(files);
  const bob = { userId: "bob", origin: { class: "direct_user" } } as const;
  await upkeep.import(bob, await readZip(await zippedBytes(files)));
  expect(await trustsOf(stage.runtime, bob)).toMatchObject({ ...trusts(files), "memory/mine.md": "unstated" });
  const again = await upkeep.export(bob);
  expect(trusts(again.files)).toEqual(trusts(files));
  await upkeep.import({ userId: "carol" }, again.files);
  expect(await trustsOf(stage.runtime, { userId: "carol" })).toMatchObject(trusts(files));
});

test("what a plugin makes from imported files is trusted as the least of them", async () => {
  await using stage = await openUndoStage("files");
  await stage.write({ ctx: poisoned, input: upsert("page", "evil") });
  const { files } = await stage.runtime.upkeep.export(alice);
  const bob = { userId: "bob" };
  await stage.runtime.upkeep.import(
    bob,
    files.filter(({ path }) => path === "page.md"),
  );
  expect(await trustsOf(stage.runtime, bob)).toEqual({
    "memory/page.md": "untrusted_document",
    "memory/MEMORY.md": "untrusted_document",
  });
});

test("an export of what is trusted enough is as it was before exports told of trust, and can be read", async () => {
  await using stage = await openUndoStage("memory");
  await stage.write({ ctx: honest, input: upsert("mine", "said") }, { ctx: alice, input: upsert("other", "untold") });
  const { files } = await stage.runtime.upkeep.export(alice);
  expect(files.every((file) => !Object.hasOwn(file, "trust"))).toBe(true);
  const zip = await zippedBytes(files);
  expect(zip.includes("memcell-origins.json")).toBe(false);
  expect(await readZip(zip)).toEqual(files);
});

test.for(["files", "memory"] as const)("the export of an erasure tells of trust: %s", async (engine) => {
  await using stage = await openUndoStage(engine);
  using folder = temporaryFolder();
  await stage.write({ ctx: poisoned, input: upsert("page", "evil") });
  const note = { command: "create", path: "/memories/note.md", content: "bad" };
  expect(await stage.runtime.call("memory", note, poisoned)).toMatchObject({ ok: true });
  const file = join(folder.path, "alice.zip");
  await stage.runtime.upkeep.erase(alice, { export: file });
  const files = await readZip(readFileSync(file));
  expect(trusts(files)).toMatchObject({
    "memory/page.md": "untrusted_document",
    "store/note.md": "untrusted_document",
  });
  await stage.runtime.upkeep.import(alice, files);
  expect(await trustsOf(stage.runtime, alice)).toMatchObject(trusts(files));
});

test("files whose history is damaged or lost are exported, and trusted least", async () => {
  await using stage = await openUndoStage("files");
  using other = temporaryFolder();
  await stage.write({ ctx: honest, input: upsert("mine", "said") });
  await stage.runtime.close();
  const damages: ((history: string) => void)[] = [
    (history) => rmSync(history, { recursive: true }),
    (history) => appendFileSync(join(history, "present.json"), "x".repeat(9)),
    (history) => appendFileSync(join(history, "versions-000000000001.jsonl"), "{}\n"),
  ];
  for (const [at, damage] of damages.entries()) {
    const dataDir = join(other.path, String(at));
    cpSync(stage.dataDir, dataDir, { recursive: true });
    damage(join(userFolder(dataDir, "alice"), ".memcell", "history"));
    await using runtime = await createRuntime({ dataDir, plugins: ["user-memory"] });
    const { files } = await runtime.upkeep.export(alice);
    expect(files.map(({ path }) => path)).toEqual(["MEMORY.md", "mine.md"]);
    if (at === 0) expect(new Set(Object.values(trusts(files)))).toEqual(new Set(["untrusted_document"]));
  }
});

test("an import refuses a trust that is none", async () => {
  await using stage = await openUndoStage("memory");
  const file = { scope: "memory", path: "a.md", content: Buffer.from("x"), trust: "trusted" } as unknown as MemoryFile;
  const message = 'An imported file has the trust "trusted", allowed: one of owner_edit, direct_user';
  await expect((async () => await stage.runtime.upkeep.import(alice, [file]))()).rejects.toThrow(message);
});

test("a zip file tells of every class that an import can take, of as many files as it can have", () => {
  const file = { scope: "s".repeat(32), path: "p".repeat(storeLimits.pathCharsMax), content: new Uint8Array() };
  for (const trust of originClasses) {
    expect(originsOf([{ ...file, trust }]) === null).toBe(isAtLeast(trust, "unstated"));
  }
  const [one, two] = [1, 2].map(
    (count) => originsOf(Array.from({ length: count }, () => ({ ...file, trust: "tool_external" })))?.length ?? 0,
  );
  expect((one ?? 0) + ((two ?? 0) - (one ?? 0)) * transferLimits.filesMax).toBeLessThan(transferLimits.originsBytesMax);
});

test("the commands export and import tell of trust between two data folders", async () => {
  await using stage = await openUndoStage("files");
  using other = temporaryFolder();
  await stage.write({ ctx: honest, input: upsert("mine", "said") }, { ctx: poisoned, input: upsert("page", "evil") });
  await stage.runtime.close();
  const zip = join(other.path, "alice.zip");
  const there = ["--data", join(other.path, "data"), "--user", "bob"];
  for (const args of [
    ["export", "--data", stage.dataDir, "--user", "alice", zip],
    ["import", ...there, zip, "--yes"],
  ]) {
    await memcell(args);
  }
  const versions = JSON.parse(await memcell(["history", ...there, "--json"])) as { path: string; trust: string }[];
  expect(Object.fromEntries(versions.map(({ path, trust }) => [path, trust]))).toMatchObject({
    "mine.md": "unstated",
    "page.md": "untrusted_document",
  });
});

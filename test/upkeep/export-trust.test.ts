/** An export says which files are trusted less than what nobody has told, and an import takes its word for no more. */
import { appendFileSync, cpSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";

import { createRuntime } from "memcell";
import type { CallContext, MemoryFile, OriginClass } from "memcell";
import { expect, test } from "vitest";

import { storeLimits } from "../../shared/limits.ts";
import { isAtLeast, originClasses } from "../../shared/origin.ts";
import { readZip, transferLimits } from "../stage/archive.ts";
import { zippedBytes } from "../support/zipped-bytes.ts";
import { alice, bob, engines, honest, openUpkeep, poisoned, remove, upsert } from "./upkeep-stage.ts";
import type { UpkeepStage } from "./upkeep-stage.ts";

const note = { command: "create", path: "/memories/note.md", content: "bad" };

const trusts = (files: readonly MemoryFile[]): Record<string, string> =>
  Object.fromEntries(files.flatMap(({ scope, path, trust }) => (trust ? [[`${scope}/${path}`, trust]] : [])));

/** Of each file that is there. */
async function trustsOf({ upkeep }: UpkeepStage, ctx: CallContext): Promise<Record<string, string>> {
  const versions = (await upkeep.history(ctx)).toReversed().filter(({ sha256 }) => sha256 !== null);
  return Object.fromEntries(versions.map(({ scope, path, trust }) => [`${scope}/${path}`, trust]));
}

test.for(engines)(
  "%s: a memory goes through a zip file to another user and back, and no file is trusted more",
  async (engine) => {
    await using at = await openUpkeep(engine);
    await at.write({ ctx: honest, input: upsert("mine", "said") }, { ctx: poisoned, input: upsert("page", "evil") });
    await at.write({ ctx: poisoned, input: upsert("gone", "bad") }, { ctx: honest, input: remove("gone") });
    await at.write({ ctx: poisoned, input: note });
    const { files } = await at.upkeep.export(alice);
    const low = Object.keys(trusts(files));
    expect(low).toEqual(expect.arrayContaining(["memory/page.md", "store/note.md"]));
    expect(low.filter((path) => path.startsWith("memory/trash/gone."))).toHaveLength(1);
    expect(low).not.toContain("memory/mine.md");
    const zipped = await readZip(await zippedBytes(files));
    expect(zipped).toEqual(files);
    const asBob = { ...bob, origin: { class: "direct_user" } } as const;
    await at.upkeep.import(asBob, zipped);
    expect(await trustsOf(at, bob)).toMatchObject({ ...trusts(files), "memory/mine.md": "unstated" });
    const again = await at.upkeep.export(bob);
    expect(trusts(again.files)).toEqual(trusts(files));
    // The export of an erasure tells it as well.
    const file = at.place("alice.zip");
    await at.upkeep.erase(alice, { export: file });
    await at.upkeep.import(alice, await readZip(readFileSync(file)));
    expect(await trustsOf(at, alice)).toMatchObject(trusts(files));
  },
);

test("what a plugin makes from imported files is trusted as the least of them", async () => {
  await using at = await openUpkeep("memory");
  await at.write({ ctx: poisoned, input: upsert("page", "evil") });
  const { files } = await at.upkeep.export(alice);
  await at.upkeep.import(
    bob,
    files.filter(({ path }) => path === "page.md"),
  );
  const trust = "untrusted_document";
  expect(await trustsOf(at, bob)).toEqual({ "memory/page.md": trust, "memory/MEMORY.md": trust });
});

test("an export of what is trusted enough is as it was before exports told of trust, and can be read", async () => {
  await using at = await openUpkeep("memory");
  await at.write({ ctx: honest, input: upsert("mine", "said") }, { ctx: alice, input: upsert("other", "untold") });
  const { files } = await at.upkeep.export(alice);
  expect(files.every((file) => !Object.hasOwn(file, "trust"))).toBe(true);
  const zip = await zippedBytes(files);
  expect(zip.includes("memcell-origins.json")).toBe(false);
  expect(await readZip(zip)).toEqual(files);
});

test("files whose history is damaged or lost are exported, and trusted least", async () => {
  await using at = await openUpkeep("files", { plugins: ["user-memory"] });
  await at.write({ ctx: honest, input: upsert("mine", "said") });
  await at.runtime.close();
  const damages: ((history: string) => void)[] = [
    (history) => rmSync(history, { recursive: true }),
    (history) => appendFileSync(join(history, "present.json"), "x".repeat(9)),
    (history) => appendFileSync(join(history, "versions-000000000001.jsonl"), "{}\n"),
  ];
  for (const [each, damage] of damages.entries()) {
    const dataDir = at.place(String(each));
    cpSync(at.dataDir, dataDir, { recursive: true });
    damage(join(dataDir, "users/alice/.memcell/history"));
    await using runtime = await createRuntime({ dataDir, plugins: ["user-memory"], threadsMax: 1 });
    const { files } = await runtime.upkeep.export(alice);
    expect(files.map(({ path }) => path)).toEqual(["MEMORY.md", "mine.md"]);
    if (each === 0) expect(new Set(Object.values(trusts(files)))).toEqual(new Set(["untrusted_document"]));
  }
});

test("a text that a person has copied from an untrusted file, also over a good one, is trusted as that file", async () => {
  await using at = await openUpkeep("files", { plugins: ["user-memory"] });
  await at.write({ ctx: poisoned, input: upsert("page", "evil") }, { ctx: honest, input: upsert("mine", "said") });
  const { "memory/page.md": page = "", "memory/mine.md": mine = "" } = at.files();
  await at.write({ ctx: honest, input: upsert("good", "said as well") });
  at.put({ "memory/copied.md": page, "memory/good.md": page, "memory/again.md": mine });
  const told = trusts((await at.upkeep.export(alice)).files);
  const trust = "untrusted_document";
  expect(told).toMatchObject({ "memory/copied.md": trust, "memory/good.md": trust });
  expect(told).not.toHaveProperty(["memory/again.md"]);
});

test("an import refuses a trust that is none", async () => {
  await using at = await openUpkeep("memory");
  const file = { scope: "memory", path: "a.md", content: Buffer.from("x"), trust: "trusted" } as unknown as MemoryFile;
  const message = 'An imported file has the trust "trusted", allowed: one of owner_edit, direct_user';
  await expect((async () => await at.upkeep.import(alice, [file]))()).rejects.toThrow(message);
});

/** Of the greatest length. */
const pathOf = (at: number): string => `${"p".repeat(storeLimits.pathCharsMax - 5)}${at + 10_000}`;

test("a zip file tells of every class that an import can take, of as many files as it can have", async () => {
  const name = "memcell-origins.json";
  /** The bytes of what a zip file tells, which come with their length in the header before them. */
  const bytesOf = async (trust: OriginClass, count: number): Promise<number> => {
    const scope = "s".repeat(32);
    const files = Array.from({ length: count }, (_, at) => ({
      scope,
      path: pathOf(at),
      content: new Uint8Array(),
      trust,
    }));
    const zip = await zippedBytes(files);
    expect((await readZip(zip)).map((file) => file.trust)).toEqual(
      files.map(() => (isAtLeast(trust, "unstated") ? undefined : trust)),
    );
    const listed = zip.lastIndexOf(name);
    return listed === -1 ? 0 : zip.readUInt32LE(listed - 22);
  };
  for (const trust of originClasses) expect((await bytesOf(trust, 1)) === 0).toBe(isAtLeast(trust, "unstated"));
  const [one, two] = [await bytesOf("tool_external", 1), await bytesOf("tool_external", 2)];
  expect(two).toBeGreaterThan(one);
  expect(one + (two - one) * transferLimits.filesMax).toBeLessThan(transferLimits.originsBytesMax);
});

/** The doctor gives files whose names no path can have the nearest names that it can have, and loses and overwrites nothing. */
import { execFileSync } from "node:child_process";
import { lstatSync, mkdirSync, readFileSync, readlinkSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { afterAll, beforeAll, expect, test } from "vitest";

import { openStage } from "../stage/runtime.ts";
import type { RuntimeStage } from "../stage/runtime.ts";
import { namesBelow } from "../support/names-below.ts";
import { userFolder } from "../support/user-files.ts";

let stage: RuntimeStage;
beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage[Symbol.asyncDispose]());

/** A user's scope with files, each of which has its name as its text. The user has written before. */
async function withFiles(names: readonly string[]): Promise<{ userId: string; place: string }> {
  const userId = stage.user();
  const input = { action: "upsert", name: "first", type: "user", description: "The first", body: "text" };
  expect(await stage.runtime.call("UpdateUserMemory", input, { userId })).toMatchObject({ ok: true });
  const place = join(userFolder(stage.dataDir, userId), "memory");
  for (const name of names) {
    mkdirSync(dirname(join(place, name)), { recursive: true });
    writeFileSync(join(place, name), `# ${JSON.stringify(name)}\n`);
  }
  return { userId, place };
}

const nfd = (text: string): string => text.normalize("NFD");
const own = ["MEMORY.md", "first.md"];

test.for([
  ["a space at the end", "Ideen ", "Ideen"],
  ["a line feed", "two\nlines.txt", "two lines.txt"],
  ["a control character", "a\u0001b.txt", "a b.txt"],
  ["a hidden character", "a\u202egpj.txt", "agpj.txt"],
  ["a colon", "12:30.txt", "12-30.txt"],
  ["a backslash", "a\\b.txt", "a-b.txt"],
  ["the name of a device", "com\u00b9.txt", "com\u00b9_.txt"],
  ["an encoding", "%C3%BC.txt", "ü.txt"],
  ["another encoding", "%41.txt", "-41.txt"],
  ["a folder's space at the end", "Projekte /Idee.txt", "Projekte/Idee.txt"],
  ["a folder's and a file's colon", "a:b/c:d.txt", "a-b/c-d.txt"],
  ["nothing that is left", "\u200b.txt", "unnamed_.txt"],
  ["a path that is too long", `${"d".repeat(150)}/${"e".repeat(150)}.txt`, `${"d".repeat(150)}/${"e".repeat(70)}.txt`],
] as const)("%s: %j becomes %j", async ([, name, mended]) => {
  const { userId, place } = await withFiles([name]);
  const found = (await stage.runtime.upkeep.inspect({ userId })).find((each) => each.problem === "name-not-allowed");
  expect(found?.remedy).toMatch(/^rename it to "/);
  const done = await stage.runtime.upkeep.mend({ userId });
  expect(done).toContainEqual(found);
  expect(
    namesBelow(place)
      .filter((each) => lstatSync(join(place, each)).isFile())
      .toSorted(),
  ).toEqual([...own, mended].toSorted());
  expect(readFileSync(join(place, mended), "utf8")).toBe(`# ${JSON.stringify(name)}\n`);
  expect(
    (await stage.runtime.upkeep.inspect({ userId })).filter((each) => each.problem === "name-not-allowed"),
  ).toEqual([]);
});

test("of two that would have one name, or a name that is there, each gets its own", async () => {
  const names = ["a:b.txt", "a\\b.txt", "A-B.txt", "ü.txt", nfd("ü.txt"), "x y.txt", "x\ny.txt"];
  const { userId, place } = await withFiles(names);
  await stage.runtime.upkeep.mend({ userId });
  const mended = namesBelow(place).filter((each) => !own.includes(each));
  expect(mended.toSorted()).toEqual(
    ["A-B.txt", "a-b 2.txt", "a-b 3.txt", "x y 2.txt", "x y.txt", "ü 2.txt", "ü.txt"].toSorted(),
  );
  expect(new Set(mended.map((each) => readFileSync(join(place, each), "utf8"))).size).toBe(names.length);
  for (const kept of ["A-B.txt", "ü.txt", "x y.txt"])
    expect(readFileSync(join(place, kept), "utf8")).toBe(`# ${JSON.stringify(kept)}\n`);
});

test("links, pipes and other programs' files stay as they are, and nothing is done without mending", async () => {
  const { userId, place } = await withFiles([".git:x", "b:c.txt"]);
  const outside = join(stage.dataDir, "outside");
  mkdirSync(join(outside, "c:d"), { recursive: true });
  symlinkSync(outside, join(place, "l:k"));
  execFileSync("mkfifo", [join(place, "p:q")]);
  const before = namesBelow(place).toSorted();
  await stage.runtime.upkeep.inspect({ userId });
  expect(namesBelow(place).toSorted()).toEqual(before);
  await stage.runtime.upkeep.mend({ userId });
  expect(namesBelow(place).toSorted()).toEqual(
    before.map((each) => (each === "b:c.txt" ? "b-c.txt" : each)).toSorted(),
  );
  expect(readlinkSync(join(place, "l:k"))).toBe(outside);
  expect(namesBelow(outside)).toEqual(["c:d"]);
});

test("a file whose name is the encoding of another's is not that one", async () => {
  const { userId, place } = await withFiles(["ü.txt", "%C3%BC.txt"]);
  const { files, leftOut } = await stage.runtime.upkeep.export({ userId });
  expect(files.map(({ path }) => path)).toEqual(["%C3%BC.txt", "MEMORY.md", "first.md"]);
  expect(Buffer.from(files[0]?.content ?? []).toString()).toBe('# "ü.txt"\n');
  expect(leftOut).toMatchObject([{ reason: "its name is not a valid memory path" }]);
  await stage.runtime.upkeep.mend({ userId });
  expect(readFileSync(join(place, "ü 2.txt"), "utf8")).toBe('# "%C3%BC.txt"\n');
});

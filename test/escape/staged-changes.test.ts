/** Staged changes: the call itself reads them, the disk has them only after success, and limits cover all of them. */
import { truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { afterAll, expect, onTestFinished, test } from "vitest";

import { readUserFiles, userFolder } from "../support/user-files.ts";
import { ask, memory, openPuppetStage } from "./puppet-stage.ts";
import type { PuppetStage } from "./puppet-stage.ts";

/** For the tests that leave Alice's files as they were. */
const stage = await openPuppetStage();
afterAll(() => stage[Symbol.asyncDispose]());

/** For a test that changes them. */
async function ownStage(): Promise<PuppetStage> {
  const own = await openPuppetStage();
  onTestFinished(() => own[Symbol.asyncDispose]());
  return own;
}

const written = '{"ok":true}';
const content = (text: string | null): string => JSON.stringify({ ok: true, content: text });
/** Of the files, in a listing that tells of each when it was changed. */
const entries = (...files: { path: string; bytes: number }[]): unknown => {
  const each = files.map(
    ({ path, bytes }) => `{"path":"${path.replaceAll(".", "\\.")}","bytes":${bytes},"changedUs":\\d+}`,
  );
  return expect.stringMatching(
    new RegExp(`^\\{"ok":true,"entries":\\[${each.join(",").replaceAll("{", "\\{").replaceAll("}", "\\}")}\\]\\}$`),
  );
};
const mebibytes = (paths: string[]): object[] => paths.map((path) => ({ writeLarge: { path, characters: 2 ** 20 } }));

test("the trash can be read and listed, but not written", async () => {
  const list = ask("store_list", { scope: "memory", prefix: "trash/" });
  const read = ask("store_read", memory("trash/old.md"));
  expect(await stage.play([list, read])).toMatchObject({
    ok: true,
    data: [entries({ path: "trash/old.md", bytes: 7 }), content("trashed")],
  });
  stage.expectDenied(await stage.play([ask("store_write", memory("trash/old.md", "x"))]));
  stage.expectDenied(await stage.play([ask("store_write", memory("trash", "x"))]));
  stage.expectDenied(await stage.play([ask("store_trash", memory("trash/old.md"))]));
  stage.expectUntouched();
});

test("a listing leaves out the trash unless its prefix names it", async () => {
  const result = await stage.play([ask("store_list", { scope: "memory" })]);
  expect(result).toMatchObject({ ok: true, data: [entries({ path: "a.md", bytes: 8 })] });
});

const trashed = "trash/a.20231114T221320000Z.md";
const changes = [
  ask("store_write", memory("new.md", "été")),
  ask("store_read", memory("new.md")),
  ask("store_trash", memory("a.md")),
  ask("store_read", memory("a.md")),
  ask("store_read", memory(trashed)),
  ask("store_list", { scope: "memory" }),
  ask("store_list", { scope: "memory", prefix: "trash/a" }),
];

test("a call reads its own staged changes, and after its success the disk has the same", async () => {
  const own = await ownStage();
  expect(await own.play(changes)).toMatchObject({
    ok: true,
    data: [
      written,
      content("été"),
      JSON.stringify({ ok: true, trashed }),
      content(null),
      content("of alice"),
      entries({ path: "new.md", bytes: 5 }),
      entries({ path: trashed, bytes: 8 }),
    ],
  });
  expect(readUserFiles(own.dataDir, "alice")).toEqual({
    "memory/new.md": "été",
    [`memory/${trashed}`]: "of alice",
    "memory/trash/old.md": "trashed",
  });
});

test("a call that does not succeed leaves nothing on disk", async () => {
  const result = await stage.play([...changes, { output: "not an envelope" }]);
  expect(result).toMatchObject({ ok: false, error: { code: "OUTPUT_INVALID" } });
  stage.expectUntouched();
});

test("rewriting a file many times counts as one change, and all files together stay within the quota", async () => {
  const own = await ownStage();
  for (let at = 0; at < 30; at++) {
    const file = join(userFolder(own.dataDir, "alice"), "memory", `${at}.md`);
    writeFileSync(file, "");
    truncateSync(file, 2 ** 21);
  }
  expect(await own.play(mebibytes(Array.from({ length: 20 }, () => "same.md")))).toMatchObject({ ok: true });
  // 61 MiB and a few bytes are there: two more fit.
  const last = await own.play(mebibytes(["x1.md", "x2.md", "x3.md"]));
  const refusal = { ok: false, error: expect.objectContaining({ code: "QUOTA_EXCEEDED" }) };
  expect(last).toMatchObject({ ok: true, data: [{ ok: true }, { ok: true }, refusal] });
});

test("a file over the limit is QUOTA_EXCEEDED and leaves nothing", async () => {
  const result = await stage.play([{ writeLarge: { path: "big.md", characters: 2 ** 21 + 1 } }]);
  expect(result).toMatchObject({ ok: true, data: [{ ok: false, error: { code: "QUOTA_EXCEEDED" } }] });
  stage.expectUntouched();
});

test("no file can also be a folder", async () => {
  for (const paths of [
    ["x", "x/y"],
    ["x/y", "x"],
  ]) {
    stage.expectDenied(await stage.play(paths.map((path) => ask("store_write", memory(path, "1")))));
  }
  const through = await stage.play([ask("store_write", memory("a.md/y", "1"))]);
  expect(through).toMatchObject({ ok: true, data: [expect.stringContaining("STORAGE_UNSAFE")] });
  stage.expectUntouched();
});

test("no file in the trash can also be a folder", async () => {
  const own = await ownStage();
  const stamp = "20231114T221320000Z";
  const nested = `a.${stamp}/x`;
  const writes = [ask("store_write", memory("a", "1")), ask("store_write", memory(nested, "2"))];
  const moves = [ask("store_trash", memory("a")), ask("store_trash", memory(nested))];
  own.expectDenied(await own.play([...writes, ...moves]));
  own.expectUntouched();
  expect(await own.play([...writes, ...moves.toReversed()])).toMatchObject({ ok: true });
  expect(await own.play([ask("store_read", memory("a.md"))])).toMatchObject({
    ok: true,
    data: [content("of alice")],
  });
  const files = readUserFiles(own.dataDir, "alice");
  expect(Object.values(files).toSorted()).toEqual(["1", "2", "of alice", "trashed"]);
});

test("a file whose name begins like the trash is listed, staged and stored", async () => {
  const own = await ownStage();
  const list = ask("store_list", { scope: "memory", prefix: "trashc" });
  const plain = ask("store_list", { scope: "memory", prefix: "trash." });
  const shown = [entries({ path: "trashcan/x.md", bytes: 2 }), entries({ path: "trash.md", bytes: 1 })];
  const writes = [ask("store_write", memory("trash.md", "1")), ask("store_write", memory("trashcan/x.md", "22"))];
  const staged = await own.play([...writes, list, plain]);
  expect(staged).toMatchObject({ ok: true, data: [written, written, ...shown] });
  expect(await own.play([list, plain])).toMatchObject({ ok: true, data: shown });
  const all = await own.play([ask("store_list", { scope: "memory", prefix: "trash" })]);
  expect(all).toMatchObject({
    ok: true,
    data: [
      entries({ path: "trash.md", bytes: 1 }, { path: "trash/old.md", bytes: 7 }, { path: "trashcan/x.md", bytes: 2 }),
    ],
  });
});

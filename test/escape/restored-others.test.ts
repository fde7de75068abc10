/** Files that a plugin names beside a restored one: only those of the same trash come back, once, to their own places. */
import { afterAll, beforeAll, expect, test } from "vitest";

import { moveOthersBack } from "../../host/upkeep/move-back.ts";
import { storeLimits } from "../../shared/limits.ts";
import { StoreStage, write } from "../store/store-stage.ts";

const stamp = "20240101T000000000Z";
const many = Array.from({ length: storeLimits.changesMax + 1 }, (_, at) => ({
  trashed: `trash/many/${at}.${stamp}`,
  path: `many/${at}`,
}));
const file = { scope: "notes", name: `x.${stamp}.md`, path: "x.md", epochMs: 0, bytes: 1 };

let stage: StoreStage;
beforeAll(async () => {
  stage = await StoreStage.open("memoryStore");
  const notes = [
    `trash/${file.name}`,
    `trash/y.${stamp}.md`,
    "trash/y.20230101T000000000Z.md",
    `trash/Y.${stamp}.md`,
    `trash/deep/z.${stamp}.md`,
    `trash/trash/z.${stamp}.md`,
    "trash/unstamped.md",
    `trash/sub.${stamp}`,
    `trash/own.${stamp}`,
    `trash/live.md/a.${stamp}.md`,
    `trash/Live.${stamp}.md`,
    `trash/live.${stamp}.md`,
    "live.md",
    "sub/a.md",
    ...many.map(({ trashed }) => trashed),
  ];
  await stage.commit("alice", [
    ...notes.map((path) => write(path, "1", "notes")),
    write(`trash/other.${stamp}.md`, "1", "memory"),
  ]);
});
afterAll(() => stage[Symbol.asyncDispose]());

interface Other {
  readonly trashed: string;
  readonly path: string;
}

const moves = (...others: readonly Other[]): Promise<unknown> =>
  stage.hold("alice", ({ reader }) =>
    moveOthersBack(reader, file, { path: "back.md", others: [...others] }, ["back.md", "own/a.md"]),
  );

const y = { trashed: `trash/y.${stamp}.md`, path: "y.md" };
const z = { trashed: `trash/deep/z.${stamp}.md`, path: "deep/z.md" };

test.for<readonly [name: string, code: string, last: Other]>([
  ["to another place", "OUTPUT_INVALID", { ...y, path: "other.md" }],
  ["to a place that differs by case", "OUTPUT_INVALID", { ...y, path: "Y.md" }],
  ["to another user", "OUTPUT_INVALID", { ...y, path: "../../bob/notes/y.md" }],
  ["inside the trash", "OUTPUT_INVALID", { ...y, path: y.trashed }],
  ["to the trash, where it was", "OUTPUT_INVALID", { trashed: `trash/trash/z.${stamp}.md`, path: "trash/z.md" }],
  ["of another scope", "OUTPUT_INVALID", { trashed: `trash/other.${stamp}.md`, path: "other.md" }],
  ["by a path that climbs", "OUTPUT_INVALID", { trashed: `../memory/trash/other.${stamp}.md`, path: "other.md" }],
  ["that is not there", "OUTPUT_INVALID", { trashed: `trash/none.${stamp}.md`, path: "none.md" }],
  ["that is live", "OUTPUT_INVALID", { trashed: "live.md", path: "live.md" }],
  ["without a stamp", "OUTPUT_INVALID", { trashed: "trash/unstamped.md", path: "unstamped.md" }],
  ["by a name that differs by case", "OUTPUT_INVALID", { ...y, trashed: `TRASH/y.${stamp}.md` }],
  ["that the plugin has written elsewhere", "OUTPUT_INVALID", { trashed: `trash/${file.name}`, path: file.path }],
  ["twice", "OUTPUT_INVALID", z],
  ["over what the plugin has written", "OUTPUT_INVALID", { trashed: `trash/own.${stamp}`, path: "own" }],
  ["over a file", "NAME_CONFLICT", { trashed: `trash/live.${stamp}.md`, path: "live.md" }],
  ["over a file but for case", "NAME_CONFLICT", { trashed: `trash/Live.${stamp}.md`, path: "Live.md" }],
  ["over a folder", "NAME_CONFLICT", { trashed: `trash/sub.${stamp}`, path: "sub" }],
  ["below a file", "NAME_CONFLICT", { trashed: `trash/live.md/a.${stamp}.md`, path: "live.md/a.md" }],
])("a further file is not moved %s: %s", async ([, code, last]) => {
  await expect(moves(z, last)).rejects.toMatchObject({ code });
});

test("two further files are not moved to one place, even if case differs", async () => {
  for (const trashed of ["trash/y.20230101T000000000Z.md", `trash/Y.${stamp}.md`]) {
    const path = trashed.includes("Y") ? "Y.md" : "y.md";
    await expect(moves(y, { trashed, path })).rejects.toMatchObject({ code: "OUTPUT_INVALID" });
    expect(await moves({ trashed, path })).toHaveLength(1);
  }
});

test("at most as many further files are moved as one call can delete", async () => {
  await expect(moves(...many)).rejects.toMatchObject({
    code: "OUTPUT_INVALID",
    message: `Cannot restore "${file.name}": the plugin names 2501 further files, at most 2500 allowed`,
  });
  expect(await moves(...many.slice(1))).toHaveLength(2500);
});

test("control: other files of the trash are moved to where they were", async () => {
  expect(await moves(y, z)).toEqual([
    { kind: "restore", scope: "notes", path: y.trashed, restored: "y.md", bytes: 1 },
    { kind: "restore", scope: "notes", path: z.trashed, restored: "deep/z.md", bytes: 1 },
  ]);
  expect(await moves()).toEqual([]);
});

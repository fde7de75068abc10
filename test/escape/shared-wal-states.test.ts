/**
 * Hostile WALs of shared stores: a record reaches no file but its own store's entries and grants, and what it says about
 * other stores never changes them, whatever it names.
 */
import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { afterAll, expect, test } from "vitest";

import { readBootId } from "../../host/disk/boot-id.ts";
import type { JointMark } from "../../host/store/files/commit/joint-mark.ts";
import { checkpointOffsets, encodeCheckpoint, recordsStart } from "../../host/store/files/commit/wal-format.ts";
import type { WalRecord } from "../../host/store/files/commit/wal-format.ts";
import { digestOf } from "../stage/store.ts";
import type { StoreId } from "../stage/store.ts";
import { treeFingerprint } from "../support/tree-fingerprint.ts";
import { encodeFiles, encodeRecord } from "../support/wal-record.ts";
import { SharedStoreStage, storeId } from "./shared-store-stage.ts";

const salt = "0".repeat(32);
const jointId = "a".repeat(32);
const open = { read: "ok", guest: "ok", write: "ok", grants: "ok" };
const boots = [
  { boot: readBootId(), when: "of this start of the machine" },
  { boot: "another", when: "of a former start" },
];

const stage = new SharedStoreStage();
afterAll(() => stage[Symbol.asyncDispose]());

let made = 0;
async function newStores(): Promise<[StoreId, StoreId, StoreId]> {
  const ids = [storeId(++made), storeId(++made), storeId(++made)] as [StoreId, StoreId, StoreId];
  for (const id of ids) await stage.make(id);
  return ids;
}

function plant(id: StoreId, json: Buffer, owner = `stores/${id}`): void {
  const header = Buffer.alloc(recordsStart);
  header.set(encodeCheckpoint({ version: 2, first: 1, salt }, owner), checkpointOffsets[0]);
  const records = encodeRecord(salt, 1, json);
  writeFileSync(join(stage.folderOf(id), ".memcell/journal"), Buffer.concat([header, records]));
}

const textOf = (id: StoreId): string => readFileSync(join(stage.folderOf(id), "entries/x.md"), "utf8");
const look = (ids: readonly StoreId[]): Promise<void> =>
  stage.store.shared.hold(ids, { writes: false, until: performance.now() + 10_000 }, async () => {});

/** A change of `x.md` from what the stage has written. */
const taking: WalRecord["files"][number] = {
  scope: "entries",
  path: "x.md",
  before: digestOf(Buffer.from("as it was")),
  after: Buffer.from("taken over"),
};
const recordOf = (boot: string | null, joint?: JointMark, file = taking): Buffer =>
  encodeFiles({ boot, files: [file], joint });

const wrongPlaces = [
  { scope: "memory", path: "x.md" },
  { scope: ".memcell", path: "owner" },
  { scope: "..", path: "users/alice/memory/x.md" },
  { scope: "entries", path: "../.memcell/owner" },
  { scope: "entries", path: ".memcell/owner" },
  { scope: "grants", path: "owner" },
  { scope: "grants", path: "journal" },
  { scope: "grants", path: "granted/x" },
  { scope: "grants", path: "trash/owner" },
  { scope: "grants", path: "grants.json/x" },
];

test.for(wrongPlaces)("a record for $path in $scope is ignored", async (place) => {
  for (const { boot } of boots) {
    const [id] = await newStores();
    plant(id, encodeFiles({ boot, files: [taking, { ...taking, ...place, before: null }] }));
    const before = treeFingerprint(stage.folderOf(id));
    await look([id]);
    expect(textOf(id)).toBe("as it was");
    expect(Object.keys(treeFingerprint(stage.folderOf(id)))).toEqual(Object.keys(before));
    expect(await stage.use(id)).toEqual(open);
  }
});

const json = (joint: unknown): Buffer => Buffer.from(JSON.stringify({ boot: null, files: [], joint }));
const misshapen = [
  null,
  "x",
  [],
  {},
  { id: jointId },
  { id: "short", leader: storeId(1) },
  { id: jointId, leader: "users/alice" },
  { id: jointId, leader: "../../users/alice" },
  { id: jointId, leader: storeId(1), others: [storeId(2)] },
  { id: jointId, others: [] },
  { id: jointId, others: ["x"] },
  { id: jointId, others: Array.from({ length: 32 }, (_, at) => storeId(at)) },
  { id: jointId, others: [storeId(1)], more: 1 },
];

test.for(misshapen.map((joint) => ({ joint, name: JSON.stringify(joint).slice(0, 60) })))(
  "a record with the joint mark $name is ignored",
  async ({ joint }) => {
    const [id] = await newStores();
    plant(id, json(joint));
    await look([id]);
    expect(textOf(id)).toBe("as it was");
    expect(await stage.use(id)).toEqual(open);
  },
);

test.for(boots)("a part $when whose leader has not committed is taken back", async ({ boot }) => {
  const [leader, id] = await newStores();
  plant(id, recordOf(boot, { id: jointId, leader }));
  await look([id]);
  expect([textOf(leader), textOf(id)]).toEqual(["as it was", "as it was"]);
  expect(await stage.use(id)).toEqual(open);
  expect(await stage.use(leader)).toEqual(open);
});

test.for(boots)("control: a part $when whose leader has committed is applied", async ({ boot }) => {
  const [leader, id] = await newStores();
  plant(id, recordOf(boot, { id: jointId, leader }));
  plant(leader, recordOf(boot, { id: jointId, others: [id] }));
  await look([id]);
  expect([textOf(leader), textOf(id)]).toEqual(["taken over", "taken over"]);
});

test.for(boots)("a leader's record $when changes no store that has no part", async ({ boot }) => {
  const [leader, other, third] = await newStores();
  plant(leader, recordOf(boot, { id: jointId, others: [other, third] }));
  plant(third, recordOf(boot, { id: "b".repeat(32), leader }));
  await look([leader]);
  expect([textOf(leader), textOf(other), textOf(third)]).toEqual(["taken over", "as it was", "as it was"]);
  for (const id of [leader, other, third]) expect(await stage.use(id)).toEqual(open);
});

test.for([
  { name: "itself", marks: (own: StoreId): JointMark[] => [{ id: jointId, leader: own }] },
  { name: "a store that does not exist", marks: (): JointMark[] => [{ id: jointId, leader: storeId(70_000_001) }] },
  {
    name: "a store that names it",
    marks: (own: StoreId, next: StoreId): JointMark[] => [
      { id: jointId, leader: next },
      { id: jointId, leader: own },
    ],
  },
  {
    name: "a store in a ring of three",
    marks: (own: StoreId, next: StoreId, last: StoreId): JointMark[] => [
      { id: jointId, leader: next },
      { id: jointId, leader: last },
      { id: jointId, leader: own },
    ],
  },
])("a part that names $name as its leader is taken back", async ({ marks }) => {
  const ids = await newStores();
  for (const [at, mark] of marks(...ids).entries()) plant(ids[at] as StoreId, recordOf(readBootId(), mark));
  await look([ids[0]]);
  for (const id of ids) expect(textOf(id)).toBe("as it was");
  for (const id of ids) expect(await stage.use(id)).toEqual(open);
});

test("a leader that names itself and stores that do not exist is applied alone", async () => {
  const [leader, other] = await newStores();
  plant(leader, recordOf(readBootId(), { id: jointId, others: [leader, storeId(70_000_002), other] }));
  await look([leader]);
  expect([textOf(leader), textOf(other)]).toEqual(["taken over", "as it was"]);
  expect(await stage.use(leader)).toEqual(open);
});

test("another store's WAL is not taken over", async () => {
  const [theirs, own] = await newStores();
  plant(theirs, recordOf(readBootId()));
  copyFileSync(join(stage.folderOf(theirs), ".memcell/journal"), join(stage.folderOf(own), ".memcell/journal"));
  await look([own]);
  expect(textOf(own)).toBe("as it was");
  expect(stage.notes.at(-1)).toContain("put aside");
  plant(own, recordOf(readBootId()), "alice");
  await look([own]);
  expect(textOf(own)).toBe("as it was");
});

test("an open part is reported, and what only looks leaves it", async () => {
  const [leader, id] = await newStores();
  plant(id, recordOf(readBootId(), { id: jointId, leader }));
  const until = performance.now() + 10_000;
  const findings = await stage.store.shared.hold([id], { writes: false, isLookingOnly: true, until }, (held) =>
    held.findings(id),
  );
  expect(findings).toMatchObject([
    { code: "wal-unfinished", path: ".memcell/journal", remedy: expect.stringContaining("take back") },
  ]);
  expect(readFileSync(join(stage.folderOf(id), ".memcell/journal")).includes(jointId)).toBe(true);
  await look([id]);
  expect(await stage.use(id)).toEqual(open);
});

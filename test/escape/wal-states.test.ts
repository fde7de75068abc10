/**
 * Hostile files in the WAL's place: the host follows nothing in them out of the user's scopes, takes over nothing of
 * another user's, and serves the user whatever the WAL holds.
 */
import { copyFileSync, existsSync, readFileSync, truncateSync, writeFileSync } from "node:fs";

import { afterAll, expect, test } from "vitest";

import { readBootId } from "../../host/disk/boot-id.ts";
import {
  checkpointOffsets,
  encodeCheckpoint,
  headBytes,
  recordsStart,
} from "../../host/store/files/commit/wal-format.ts";
import { walLimits } from "../../host/store/files/commit/wal-limits.ts";
import { digestOf } from "../stage/store.ts";
import { treeFingerprint } from "../support/tree-fingerprint.ts";
import { encodeFiles, encodeRecord } from "../support/wal-record.ts";
import { openFolderStage, secret } from "./folder-stage.ts";
import { pathIn } from "./folder-traps.ts";

const salt = "0".repeat(32);
const open = { read: "ok", index: "ok", upsert: "ok", remove: "ok" };

/** A WAL as the host writes it for a user, with any bytes as its records. */
function walOf(userId: string, records: Uint8Array, first = 1): Buffer {
  const header = Buffer.alloc(recordsStart);
  header.set(encodeCheckpoint({ version: 2, first, salt }, userId), checkpointOffsets[0]);
  return Buffer.concat([header, records]);
}

interface HostileFile {
  readonly scope: string;
  readonly path: string;
}

const fileAt = (path: string): HostileFile => ({ scope: "memory", path });
const fileIn = (scope: string, path = "x.md"): HostileFile => ({ scope, path });

const hostileFiles: readonly HostileFile[] = [
  "../../bob/memory/x.md",
  "../x.md",
  "..",
  ".",
  "",
  "/",
  "/tmp/memcell-escape",
  "../../../outside/memory/x.md",
  "a/../../../bob/memory/x.md",
  "./x.md",
  "x.md/",
  "x.md/.",
  "x//y",
  "trash/../../../bob/memory/x.md",
  "../.memcell/owner",
  ".memcell/owner",
  ".hidden",
  "a\u0000b",
  "x.md\u0000",
  "..\\..\\bob",
  "C:\\x.md",
  "%2e%2e/x.md",
  "．．/x.md",
  "x\n.md",
  "x.md ",
  "é.md",
  "a".repeat(256),
  `${"d/".repeat(200)}x.md`,
]
  .map(fileAt)
  .concat(
    ["..", ".", "", "/etc", "../bob/memory", "memory/trash", ".memcell", "Memory", "MEMORY", "a b", "a".repeat(40)].map(
      (scope) => fileIn(scope),
    ),
    fileIn("..", "bob/memory/x.md"),
    fileIn("../..", "outside/memory/x.md"),
  );

const contents = [
  { doing: "writes", after: Buffer.from("taken over") },
  { doing: "removes", after: null },
];
const boots = [
  { boot: readBootId(), when: "of this start of the machine" },
  { boot: "another", when: "of a former start" },
];

/** The first file of each record is harmless, but must not be changed either. */
function hostileRecord(file: HostileFile, boot: string | null, after: Buffer | null): Buffer {
  const harmless = { ...fileAt("x.md"), before: digestOf(Buffer.from("never")), after: Buffer.from("taken over") };
  return encodeFiles({ boot, files: [harmless, { ...file, before: null, after }] });
}

const followed = hostileFiles.flatMap((file) =>
  contents.flatMap(({ doing, after }) =>
    boots.map(({ boot, when }) => ({
      name: `${doing} ${JSON.stringify(file.path.slice(0, 40))} in ${JSON.stringify(file.scope)}, ${when}`,
      records: encodeRecord(salt, 1, hostileRecord(file, boot, after)),
    })),
  ),
);

/** Only a shared store has such records. */
const otherStore = "00000001-1111-4111-8111-111111111111";

const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));
const harmless = json({ boot: null, files: [] });
const head = (sequence: string, bytes: string): Buffer =>
  Buffer.concat([Buffer.from(`record ${sequence} ${bytes} ${"0".repeat(64)} -\n`), harmless]);

const misshapen: { name: string; records: Buffer }[] = [
  { name: "claims to be longer than any disk", records: head("000000000000001", "999999999999999") },
  { name: "claims a negative length", records: head("000000000000001", "-00000000000012") },
  { name: "has a sequence below zero", records: head("-00000000000001", "000000000000012") },
  { name: "has a wrong check", records: head("000000000000001", String(harmless.length).padStart(15, "0")) },
  { name: "ends in its head", records: encodeRecord(salt, 1, harmless).subarray(0, headBytes - 5) },
  { name: "ends in its text", records: encodeRecord(salt, 1, harmless).subarray(0, headBytes + 3) },
  { name: "is not JSON", records: encodeRecord(salt, 1, Buffer.from("{")) },
  { name: "is not UTF-8", records: encodeRecord(salt, 1, Buffer.from([0xff, 0xfe])) },
  { name: "is null", records: encodeRecord(salt, 1, json(null)) },
  { name: "is a list", records: encodeRecord(salt, 1, json([])) },
  { name: "has no files", records: encodeRecord(salt, 1, json({ boot: null })) },
  { name: "has an extra key", records: encodeRecord(salt, 1, json({ boot: null, files: [], owner: "bob" })) },
  ...[{ leader: otherStore }, { others: [otherStore] }].map((mark) => ({
    name: `is part of a change of several stores, with ${Object.keys(mark).join()}`,
    records: encodeRecord(salt, 1, json({ boot: null, files: [], joint: { id: salt, ...mark } })),
  })),
  { name: "names a prototype", records: encodeRecord(salt, 1, Buffer.from('{"boot":null,"files":[],"__proto__":{}}')) },
  { name: "is 50,000 lists deep", records: encodeRecord(salt, 1, Buffer.from("[".repeat(50_000))) },
  { name: "is out of sequence", records: encodeRecord(salt, 7, harmless) },
];

const recordRows = [...followed, ...misshapen];
const damaged: { name: string; bytes: Buffer; size?: number }[] = [
  { name: "text", bytes: Buffer.from("hello") },
  { name: "noise", bytes: Buffer.alloc(10_000, 0xa5) },
  {
    name: "a checkpoint with a wrong check",
    bytes: Buffer.from(`memcell-journal 1 ${"0".repeat(15)} ${salt} ${salt}`),
  },
  { name: "a checkpoint cut short", bytes: walOf("damaged-3", Buffer.alloc(0)).subarray(0, 60) },
  {
    name: "more bytes than any WAL has",
    bytes: walOf("damaged-4", Buffer.alloc(0)),
    size: walLimits.walBytesMax + 1,
  },
  { name: "a checkpoint of another user's", bytes: walOf("bob", Buffer.alloc(0)) },
];
const empty: { name: string; bytes: Buffer }[] = [
  { name: "nothing", bytes: Buffer.alloc(0) },
  { name: "zeros", bytes: Buffer.alloc(70_000) },
  { name: "a few zeros", bytes: Buffer.alloc(7) },
  {
    name: "a checkpoint near the largest sequence number",
    bytes: walOf("empty-3", Buffer.alloc(0), 999_999_999_999_990),
  },
];

const ids = [
  ...recordRows.map((_, at) => `record-${at}`),
  ...damaged.map((_, at) => `damaged-${at}`),
  ...empty.map((_, at) => `empty-${at}`),
  "dave",
  "copied",
];
const stage = await openFolderStage(ids);
afterAll(() => stage.close());

const place = (userId: string, path: string): string => pathIn(stage.folderOf(userId), path);

async function expectIgnored(userId: string): Promise<void> {
  const before = treeFingerprint(place(userId, "memory"));
  expect(await stage.runtime.call("ReadUserMemory", { name: "x" }, { userId })).toMatchObject({ ok: true });
  expect(treeFingerprint(place(userId, "memory"))).toEqual(before);
  expect(await stage.use(userId)).toEqual(open);
}

test.for(recordRows.map((row, at) => Object.assign({ at }, row)))(
  "a record that $name is ignored",
  async ({ records, at }) => {
    const userId = `record-${at}`;
    writeFileSync(place(userId, ".memcell/journal"), walOf(userId, records));
    await expectIgnored(userId);
    expect(existsSync("/tmp/memcell-escape")).toBe(false);
  },
);

test.for(damaged.map((row, at) => Object.assign({ at }, row)))(
  "a WAL of $name is put aside",
  async ({ bytes, size, at }) => {
    const userId = `damaged-${at}`;
    writeFileSync(place(userId, ".memcell/journal"), bytes);
    if (size) truncateSync(place(userId, ".memcell/journal"), size);
    await expectIgnored(userId);
    expect(existsSync(place(userId, ".memcell/journal-damaged-1"))).toBe(true);
  },
);

test.for(empty.map((row, at) => Object.assign({ at }, row)))("a WAL of $name is used", async ({ bytes, at }) => {
  const userId = `empty-${at}`;
  writeFileSync(place(userId, ".memcell/journal"), bytes);
  await expectIgnored(userId);
  expect(existsSync(place(userId, ".memcell/journal-damaged-1"))).toBe(false);
});

test.for(boots)("another user's WAL with a change $when is not taken over", async ({ boot }) => {
  const theirs = { ...fileAt("x.md"), before: digestOf(readFileSync(place("copied", "memory/x.md"))) };
  const record = encodeFiles({ boot, files: [{ ...theirs, after: Buffer.from(secret) }] });
  writeFileSync(place("dave", ".memcell/journal"), walOf("dave", encodeRecord(salt, 1, record)));
  copyFileSync(place("dave", ".memcell/journal"), place("copied", ".memcell/journal"));
  const before = treeFingerprint(place("copied", "memory"));
  await stage.runtime.call("ReadUserMemory", { name: "x" }, { userId: "copied" });
  expect(treeFingerprint(place("copied", "memory"))).toEqual(before);
});

test("control: the same record in the user's own WAL is applied", async () => {
  const before = digestOf(readFileSync(place("dave", "memory/x.md")));
  const record = encodeFiles({
    boot: readBootId(),
    files: [{ ...fileAt("x.md"), before, after: Buffer.from("done") }],
  });
  writeFileSync(place("dave", ".memcell/journal"), walOf("dave", encodeRecord(salt, 1, record)));
  await stage.runtime.call("ReadUserMemory", { name: "x" }, { userId: "dave" });
  expect(readFileSync(place("dave", "memory/x.md"), "utf8")).toBe("done");
});

test("a record that names another scope applies in the user's own folder", async () => {
  const record = encodeFiles({
    boot: readBootId(),
    files: [{ ...fileIn("notes"), before: null, after: Buffer.from("kept") }],
  });
  writeFileSync(place("dave", ".memcell/journal"), walOf("dave", encodeRecord(salt, 1, record)));
  expect((await stage.use("dave")).index).toBe("ok");
  expect(readFileSync(place("dave", "notes/x.md"), "utf8")).toBe("kept");
});

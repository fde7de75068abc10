/**
 * Faults that a review of the store's code found, each with the steps that showed it. The cases of the other suites,
 * which are random or listed, did not cover them.
 */
import { execFileSync, spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";

import { expect, test } from "vitest";

import { isSettled, lastSegment } from "../stage/journal.ts";
import { scopeOfStore } from "../stage/store.ts";
import type { StoreId } from "../stage/store.ts";
import { skipWithReason } from "../support/skip-with-reason.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { readUserFiles, userFolder } from "../support/user-files.ts";
import { nothingKept } from "./homes/subjects.ts";
import { settings } from "./homes/switched-runtime.ts";
import { memoryFolder } from "./homes/tree.ts";
import { ModelledDisk } from "./model/modelled-disk.ts";
import { Recording } from "./model/recording.ts";
import { alice, commit, openStore, remove, trash, write } from "./small-disk-store.ts";
import { host, openFiles } from "./store-under-test.ts";

test.for([
  {
    name: "a file that is trashed and written again with the same text is in both places",
    changes: [trash("a.md", "trash/a.md"), write("a.md", "same")],
    shown: { "memory/a.md": "same", "memory/trash/a.md": "same", "memory/null": "x" },
  },
  {
    name: 'a file named "null" is removed like any other',
    changes: [remove("null")],
    shown: { "memory/a.md": "same" },
  },
])("$name", async ({ changes, shown }) => {
  using folder = temporaryFolder();
  const store = openStore(folder.path);
  await commit(store, [write("a.md", "same"), write("null", "x")]);
  await commit(store, changes);
  await store.close();
  expect(readUserFiles(folder.path, alice)).toEqual(shown);
});

test("a file that was purged right after it was trashed stays gone, also in a backup", async () => {
  using folder = temporaryFolder();
  const [data, copy] = [join(folder.path, "data"), join(folder.path, "copy")];
  const store = openStore(data, {}, "first start");
  await commit(store, [write("a.md", "one"), write("b.md", "two")]);
  await commit(store, [trash("a.md", "trash/a.md")]);
  await commit(store, [remove("trash/a.md")]);
  // In the copy no times show what happened after the record that put the file into the trash.
  cpSync(data, copy, { recursive: true });
  for (const dataDir of [data, copy]) {
    const next = openStore(dataDir, {}, "second start");
    await commit(next, [write("c.md", "three")]);
    expect(readUserFiles(dataDir, alice)).toEqual({ "memory/b.md": "two", "memory/c.md": "three" });
    await next.close();
  }
  await store.close();
});

test("a lock file that was removed lets no second holder in, and nothing is acknowledged under it", async () => {
  using folder = temporaryFolder();
  const [first, second] = [openStore(folder.path), openStore(folder.path)];
  await commit(first, [write("a.md", "one")]);
  const options = { writes: true, until: performance.now() + 10_000 };
  const held = first.holdUser(alice, options, async (user) => {
    rmSync(join(userFolder(folder.path, alice), ".memcell", "lock"));
    await commit(second, [write("b.md", "two")]);
    await user.commit([write("a.md", "lost")], []);
  });
  await expect(held).rejects.toMatchObject({ code: "STORAGE_FAILED" });
  await Promise.all([first.close(), second.close()]);
  expect(readUserFiles(folder.path, alice)).toEqual({ "memory/a.md": "one", "memory/b.md": "two" });
});

test("a frame is settled although its file has got a second name", async () => {
  using folder = temporaryFolder();
  const store = openStore(folder.path);
  await commit(store, [write("a.md", "one")]);
  linkSync(join(userFolder(folder.path, alice), "memory/a.md"), join(folder.path, "backup.md"));
  await store.close();
  expect(readFileSync(join(folder.path, "backup.md"), "utf8")).toBe("one");
  expect(isSettled(join(userFolder(folder.path, alice), ".memcell"), alice)).toBe(true);
});

test("the first call that flushes makes a user durable who was set up without flushes", async () => {
  using folder = temporaryFolder();
  const relaxed = openStore(folder.path, { durability: "relaxed" });
  await commit(relaxed, [write("a.md", "one")]);
  const segment = lastSegment(join(userFolder(folder.path, alice), ".memcell"));
  expect(readFileSync(segment, "latin1")).toContain('"relaxed":1');
  const full = openStore(folder.path);
  await commit(full, [write("a.md", "two")]);
  expect(readFileSync(segment, "latin1")).toContain('"relaxed":0');
  await Promise.all([relaxed.close(), full.close()]);
});

test("whole files are written to a scope that is a mount of its own", async (context) => {
  using folder = temporaryFolder();
  const store = openStore(folder.path);
  await commit(store, [write("a.md", "one")]);
  await store.close();
  const memory = join(userFolder(folder.path, alice), "memory");
  const mounted = spawnSync("mount", ["-t", "tmpfs", "none", memory]);
  if (mounted.status !== 0) skipWithReason(context, "mounting is not permitted here");
  try {
    const mountedStore = openStore(folder.path);
    await commit(mountedStore, [write("b.md", "two")]);
    await commit(mountedStore, [trash("b.md", "trash/b.md"), write("b.md", "three")]);
    await mountedStore.close();
    expect(readUserFiles(folder.path, alice)).toEqual({ "memory/b.md": "three", "memory/trash/b.md": "two" });
    expect(existsSync(join(memory, ".memcell-staged"))).toBe(false);
  } finally {
    execFileSync("umount", [memory]);
  }
});

const hold = (writes: boolean) => ({ writes, until: performance.now() + 10_000 });

test("what a killed process has left of a record is told by the doctor, and removed by the next call", async () => {
  using folder = temporaryFolder();
  const [store, knowing] = [openStore(folder.path, { kept: nothingKept }), openStore(folder.path)];
  await commit(store, [write("a.md", "a")]);
  await store.holdRecords(alice, hold(true), (records) => records.write("pending", "w-1", "{}"));
  const own = join(userFolder(folder.path, alice), ".memcell");
  const leftovers = ["staged-mark", "staged-record"];
  expect(leftovers.filter((name) => existsSync(join(own, name)))).toEqual([]);
  for (const name of leftovers) writeFileSync(join(own, name), "Of a page that nobody has approved.");
  const looking = { ...hold(false), isLookingOnly: true };
  const findings = await knowing.holdUser(alice, looking, (held) => held.findings());
  const told = findings.flatMap(({ code, path }) => (code === "temporary-file" ? [path] : []));
  expect(told.toSorted()).toEqual(leftovers.map((name) => `.memcell/${name}`));
  expect(await store.holdRecords(alice, hold(false), (records) => records.names("pending"))).toEqual(["w-1"]);
  expect(leftovers.filter((name) => existsSync(join(own, name)))).toEqual([]);
  await Promise.all([store.close(), knowing.close()]);
});

test("a person's folder that a killed process has exchanged for its file stays, and calls succeed", async () => {
  using folder = temporaryFolder();
  const store = openStore(folder.path);
  await commit(store, [write("a.md", "one")]);
  const traded = join(userFolder(folder.path, alice), ".memcell/staged-0");
  mkdirSync(traded);
  writeFileSync(join(traded, "notes.md"), "of a person");
  await commit(store, [write("a.md", "two")]);
  await store.close();
  expect(readUserFiles(folder.path, alice)).toEqual({ "memory/a.md": "two" });
  expect(readFileSync(join(traded, "notes.md"), "utf8")).toBe("of a person");
});

test("the journal is settled although a file is in the place of a folder with fresh changes", async () => {
  using folder = temporaryFolder();
  const store = openStore(folder.path);
  await commit(store, [write("notes/a.md", "one"), write("b.md", "one")]);
  const notes = join(userFolder(folder.path, alice), "memory/notes");
  rmSync(notes, { recursive: true });
  writeFileSync(notes, "a person's");
  await store.close();

  const next = openStore(folder.path);
  await commit(next, [write("b.md", "two")]);
  expect(readUserFiles(folder.path, alice)).toEqual({ "memory/b.md": "two", "memory/notes": "a person's" });
  await next.close();
});

/** A person edits a file of a call while the call's frame is flushed. The call is then made again, with other texts. */
async function takenBack(path: string, { isCopied = false, spoil = (_recording: Recording): void => {} } = {}) {
  const recording = new Recording(host, path, new ModelledDisk());
  const store = openFiles(recording, { durability: "full", note: () => {}, settings }, "boot");
  const long = isCopied ? [write("long.md", "long ".repeat(120_000))] : [];
  await commit(store, [write("a.md", "one"), write("b.md", "one"), ...long]);
  recording.meanwhile = (name) => {
    if (name !== "segment") return;
    recording.meanwhile = null;
    recording.saveByHand(["users", alice, "memory", "a.md"], "of a person ".repeat(10_000));
    spoil(recording);
  };
  const texts = ["of an agent", "of the agent, again"];
  await store.holdUser(alice, { writes: true, until: performance.now() + 10_000 }, (held) => {
    const text = texts.shift() ?? "";
    return held.commit([write("a.md", text), write("b.md", text)], []);
  });
  if (isCopied) cpSync(path, `${path}-copy`, { recursive: true });
  recording.isFull = false;
  return { recording, store, texts };
}

const journalIn = (path: string): string[] => {
  const journal = join(userFolder(path, alice), ".memcell/journal");
  const files = readdirSync(journal).map((name) => readFileSync(join(journal, name)));
  return files.map((bytes) => (bytes[0] === 0x1f ? gunzipSync(bytes) : bytes).toString());
};

test("the text of a change that was taken back is nowhere once the journal is settled", async () => {
  using folder = memoryFolder();
  const { store, texts } = await takenBack(folder.path);
  expect(texts).toEqual([]);
  await store.close();
  expect(readUserFiles(folder.path, alice)["memory/a.md"]).toBe("of the agent, again");
  expect(journalIn(folder.path).join()).toContain("of the agent, again");
  expect(journalIn(folder.path).join()).not.toContain("of an agent");
});

test("it is not packed either, if another segment has begun before it is settled", async () => {
  using folder = memoryFolder();
  const { store } = await takenBack(folder.path, { isCopied: true });
  await store.close();
  const copy = `${folder.path}-copy`;
  for (const text of ["1", "2", "3"]) {
    const next = openStore(copy);
    await commit(next, [write("c.md", text)]);
    await next.close();
  }
  const found = journalIn(copy);
  rmSync(copy, { recursive: true });
  expect(found.length).toBeGreaterThan(2);
  expect(found.join()).not.toContain("of an agent");
});

test.for([
  { what: "flushed", spoil: (recording: Recording) => recording.failFlush("segment", 1), text: "of the agent, again" },
  { what: "written", spoil: (recording: Recording) => void (recording.isFull = true), text: "of an agent" },
])("a call is not refused, and made all the same, because what takes it back cannot be $what", async (each) => {
  using folder = memoryFolder();
  const { store, recording } = await takenBack(folder.path, each);
  for (const boot of ["boot", "another boot"]) {
    const next = openFiles(recording, { durability: "full", note: () => {}, settings }, boot);
    await commit(next, [write("c.md", "three")]);
    expect(readUserFiles(folder.path, alice)["memory/b.md"]).toBe(each.text);
    await next.close();
  }
  await store.close();
});

test.for([false, true])(
  "a backup that a person has moved into place stays; recovery is interrupted: %s",
  async (is) => {
    using folder = temporaryFolder();
    const memory = join(userFolder(folder.path, alice), "memory");
    const calls = ["zero", "one", "two"];
    const stores = calls.map(() => openStore(folder.path, {}, "first start"));
    for (const [at, store] of stores.entries()) {
      await commit(store, [write("a.md", calls[at] ?? "")]);
      if (at === 0) cpSync(memory, join(folder.path, "backup"), { recursive: true });
      if (at < 2) await store.close();
    }
    renameSync(memory, join(folder.path, "old"));
    renameSync(join(folder.path, "backup"), memory);
    if (is) {
      // What is to be saved cannot be, as if it were killed there.
      writeFileSync(join(memory, "trash"), "in the way");
      const next = openStore(folder.path, {}, "second start");
      await commit(next, [write("x.md", "x")]).catch(() => {});
      await next.close();
      rmSync(join(memory, "trash"));
    }
    const next = openStore(folder.path, {}, "second start");
    await commit(next, [write("x.md", "x")]);
    expect(readUserFiles(folder.path, alice)["memory/a.md"]).toBe("zero");
    await Promise.all([next.close(), ...stores.map((store) => store.close())]);
  },
);

test("no segment begins in the leftover of another: a crash can bring back what was in it", async () => {
  using folder = temporaryFolder();
  const journal = join(userFolder(folder.path, alice), ".memcell/journal");
  const [leftover, kept] = [join(journal, "staged-segment"), join(folder.path, "kept")];
  mkdirSync(journal, { recursive: true });
  writeFileSync(leftover, "of a killed process");
  linkSync(leftover, kept);
  const store = openStore(join(folder.path));
  await commit(store, [write("a.md", "one")]);
  await store.close();
  expect(readFileSync(kept, "utf8")).toBe("of a killed process");
  expect(readdirSync(journal)).toEqual(["000000000001.log"]);
});

const chat = "c0000000-0000-4000-8000-000000000000" as StoreId;

const given = '{"version":1,"grants":[]}';

test.for([
  { name: "written", before: null, after: "by hand", left: ["a.md", "b.md"] },
  { name: "removed", before: given, after: null, left: ["a.md", "b.md"] },
  { name: "left as they are", before: given, after: given, left: ["b.md"] },
])("a missing file comes back after a crash if nobody can tell who removed it: grants were $name", async (each) => {
  using folder = temporaryFolder();
  const first = openStore(folder.path, {}, "first start");
  const scope = scopeOfStore(chat);
  const changes = ["a.md", "b.md"].map((path) => ({ kind: "write", scope, path, content: path }) as const);
  const grants = each.before === null ? undefined : { content: each.before, granted: [], nowMs: 0 };
  await first.holdStores([chat], { writes: true, until: performance.now() + 10_000 }, (held) =>
    held.commit(chat, { by: alice, changes, seen: [], grants }),
  );
  const place = join(folder.path, "stores", chat);
  rmSync(join(place, "entries/a.md"));
  if (each.after === null) rmSync(join(place, ".memcell/grants.json"));
  else if (each.after !== each.before) writeFileSync(join(place, ".memcell/grants.json"), each.after);
  const next = openStore(folder.path, {}, "second start");
  const found = await next.holdStores([chat], { writes: true, until: performance.now() + 10_000 }, async (held) =>
    (await held.reader(chat).survey("entries")).files.map(({ path }) => path),
  );
  expect(found.toSorted()).toEqual(each.left);
  await Promise.all([first.close(), next.close()]);
});

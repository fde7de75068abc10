/** What no caller can provoke at will: times of files, descriptors that are used again, and trees that are odd. */
import { execFileSync } from "node:child_process";
import { linkSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";
import type { TestContext } from "vitest";

import type { Directory } from "../../host/disk/directory.ts";
import { handleKindHere, openHandedFolder, openRootFolder } from "../../host/disk/folder-handle.ts";
import { DiskRoot } from "../../host/disk/pinned-directory.ts";
import { stampFrom } from "../../host/disk/pinned-file.ts";
import type { StampFacts, TimesOfDisk } from "../../host/disk/pinned-file.ts";
import { openDescriptors } from "../support/open-descriptors.ts";
import { skipWithReason } from "../support/skip-with-reason.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const nowMs = 1_800_000_000_000;
const changed = (agoMs: number, ns = 123n): StampFacts => {
  const ctimeNs = BigInt(nowMs - agoMs) * 1_000_000n + ns;
  return { dev: 1n, ino: 2n, size: 3n, mtimeNs: 4n, ctimeNs };
};

test.for<readonly [name: string, times: TimesOfDisk, facts: StampFacts, hasStamp: boolean]>([
  ["each change has its own time", "each", changed(0), true],
  ["times are those of ticks, and the file is old", "tick", changed(21), true],
  ["times are those of ticks, and the file is young", "tick", changed(20), false],
  ["times are those of ticks, and the clock was set back", "tick", changed(-5_000), false],
  ["nothing is known of the disk", "unknown", changed(3_600_000), false],
  ["the disk keeps whole seconds", "each", changed(0, 0n), false],
  ["the disk keeps whole seconds, and the file is old", "tick", changed(60_000, 0n), false],
])("a file's times show every change of its content only where they can: %s", ([, times, facts, hasStamp]) => {
  expect(stampFrom(facts, times, nowMs) !== null).toBe(hasStamp);
});

test("each fact makes another stamp", () => {
  const facts = changed(1_000);
  const others = (["dev", "ino", "size", "mtimeNs", "ctimeNs"] as const).map((key) =>
    Object.assign({}, facts, { [key]: facts[key] + 1n }),
  );
  expect(new Set([facts, ...others].map((each) => stampFrom(each, "each", nowMs)?.text)).size).toBe(6);
});

function needsLinux(context: TestContext): void {
  if (handleKindHere !== "descriptor") skipWithReason(context, "only Linux has these names and descriptors");
}

test("a thread opens a folder by another's descriptor, but no other folder that has it by now", (context) => {
  needsLinux(context);
  using folder = temporaryFolder();
  const [alice, bob] = ["alice", "bob"].map((name) => join(folder.path, name)) as [string, string];
  for (const path of [alice, bob]) mkdirSync(path);
  const handed = (): { descriptor: number; identity: string } => {
    using open = openRootFolder(alice, "descriptor");
    using again = openHandedFolder(open);
    expect(again?.identity).toBe(open.identity);
    expect(again?.descriptor).not.toBe(open.descriptor);
    return { descriptor: open.descriptor, identity: open.identity };
  };
  const closed = handed();
  expect(openHandedFolder(closed)).toBeNull();
  using _first = openRootFolder(bob, "descriptor");
  using _second = openRootFolder(bob, "descriptor");
  expect([_first.descriptor, _second.descriptor]).toContain(closed.descriptor);
  expect(openHandedFolder(closed)).toBeNull();
});

const opened = (path: string, kind: "descriptor" | "path"): Directory =>
  new DiskRoot(path, kind).open() ?? expect.fail("The folder is not there");

test.for(["descriptor", "path"] as const)("all of a tree goes, and nothing outside: by %s", async (kind) => {
  using folder = temporaryFolder();
  const [inside, outside] = [join(folder.path, "inside"), join(folder.path, "outside")];
  for (const each of [join(inside, "a/b c/ü"), join(inside, ".git"), outside]) mkdirSync(each, { recursive: true });
  writeFileSync(join(outside, "kept.md"), "kept");
  writeFileSync(join(inside, "a/b c/ü/two\nlines"), "123");
  writeFileSync(join(inside, ".git/config"), "12345");
  symlinkSync(outside, join(inside, "link"));
  linkSync(join(outside, "kept.md"), join(inside, "a/second-name"));
  execFileSync("mkfifo", [join(inside, "pipe")]);
  using directory = opened(inside, kind);
  const measured = (await directory.measureTree()).toSorted((a, b) => (a.name < b.name ? -1 : 1));
  expect(measured).toEqual([
    { name: ".git", kind: "folder", files: 1, bytes: 5, closed: [] },
    { name: "a", kind: "folder", files: 2, bytes: 7, closed: [] },
    { name: "link", kind: "other", files: 1, bytes: 0, closed: [] },
    { name: "pipe", kind: "other", files: 1, bytes: 0, closed: [] },
  ]);
  const reason = new Error("closing");
  await expect(directory.removeTree(AbortSignal.abort(reason))).rejects.toBe(reason);
  // Two at once do not disturb each other.
  expect(await Promise.all([directory.removeTree(), directory.removeTree()])).toEqual([[], []]);
  expect(readdirSync(inside)).toEqual([]);
  expect(readFileSync(join(outside, "kept.md"), "utf8")).toBe("kept");
});

test("names that are no text go too, and a tree that is deeper than a process may open folders", async (context) => {
  needsLinux(context);
  using folder = temporaryFolder();
  const name = Buffer.concat([Buffer.from(`${folder.path}/`), Buffer.from([0xff, 0xfe])]);
  mkdirSync(name);
  writeFileSync(Buffer.concat([name, Buffer.from("/"), Buffer.from([0x80])]), "x");
  // Relative, because a path of the system has at most 4,096 bytes.
  const deepest = Array.from({ length: 1_500 }, () => "d").join("/");
  execFileSync("mkdir", ["-p", deepest], { cwd: folder.path });
  execFileSync("touch", [`${deepest}/file`], { cwd: folder.path });
  using directory = opened(folder.path, "descriptor");
  expect(await directory.measureTree()).toMatchObject([{ files: 1 }, { files: 1 }]);
  expect(await directory.removeTree()).toEqual([]);
  expect(readdirSync(folder.path)).toEqual([]);
  expect(openDescriptors(folder.path).length).toBeLessThanOrEqual(1);
});

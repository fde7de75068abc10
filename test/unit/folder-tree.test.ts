/** Counting and removing whole trees: every name goes, no link is followed, and nothing that is mounted there. */
import { execFileSync } from "node:child_process";
import { existsSync, linkSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { DiskRoot } from "../../host/disk/data-root.ts";
import type { Directory } from "../../host/disk/directory.ts";
import { loopDisk } from "../support/loop-disk.ts";
import { openDescriptors } from "../support/open-descriptors.ts";
import { skipWithReason } from "../support/skip-with-reason.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const kinds = ["descriptor", "path"] as const;

function opened(path: string, kind: (typeof kinds)[number]): Directory {
  const directory = new DiskRoot(path, kind).open();
  if (directory === null) throw new Error("The folder is not there");
  return directory;
}

test.for(kinds)("everything goes, whatever it is and is called, and nothing outside (%s)", async (kind) => {
  using folder = temporaryFolder();
  const [inside, outside] = [join(folder.path, "inside"), join(folder.path, "outside")];
  for (const each of [join(inside, "a/b c/ü"), join(inside, ".git"), outside]) mkdirSync(each, { recursive: true });
  writeFileSync(join(outside, "kept.md"), "kept");
  writeFileSync(join(inside, "a/b c/ü/two\nlines"), "123");
  writeFileSync(join(inside, ".git/config"), "12345");
  symlinkSync(outside, join(inside, "link"));
  symlinkSync(join(outside, "kept.md"), join(inside, "a/file-link"));
  linkSync(join(outside, "kept.md"), join(inside, "a/second-name"));
  execFileSync("mkfifo", [join(inside, "pipe")]);
  using directory = opened(inside, kind);
  const measured = (await directory.measureTree()).toSorted((a, b) => (a.name < b.name ? -1 : 1));
  expect(measured).toEqual([
    { name: ".git", kind: "folder", files: 1, bytes: 5, closed: [] },
    { name: "a", kind: "folder", files: 3, bytes: 7, closed: [] },
    { name: "link", kind: "other", files: 1, bytes: 0, closed: [] },
    { name: "pipe", kind: "other", files: 1, bytes: 0, closed: [] },
  ]);
  expect(await directory.removeTree()).toEqual([]);
  expect(readdirSync(inside)).toEqual([]);
  expect(readFileSync(join(outside, "kept.md"), "utf8")).toBe("kept");
});

test("names that are no text go too", async (context) => {
  if (process.platform !== "linux") skipWithReason(context, "only Linux has names that are no text");
  using folder = temporaryFolder();
  const name = Buffer.concat([Buffer.from(`${folder.path}/`), Buffer.from([0xff, 0xfe])]);
  mkdirSync(name);
  writeFileSync(Buffer.concat([name, Buffer.from("/"), Buffer.from([0x80])]), "x");
  using directory = opened(folder.path, "descriptor");
  expect(await directory.measureTree()).toMatchObject([{ files: 1, bytes: 1 }]);
  expect(await directory.removeTree()).toEqual([]);
  expect(readdirSync(folder.path)).toEqual([]);
});

test("a tree that is deeper than a process may open folders goes, and leaves none open", async () => {
  using folder = temporaryFolder();
  // Relative, because a path of the system has at most 4,096 bytes.
  const deepest = Array.from({ length: 1_500 }, () => "d").join("/");
  execFileSync("mkdir", ["-p", deepest], { cwd: folder.path });
  execFileSync("touch", [`${deepest}/file`], { cwd: folder.path });
  using directory = opened(folder.path, "descriptor");
  const [measured] = await directory.measureTree();
  expect(measured).toMatchObject({ name: "d", files: 1, closed: [] });
  expect(await directory.removeTree()).toEqual([]);
  expect(readdirSync(folder.path)).toEqual([]);
  expect(openDescriptors(folder.path).length).toBeLessThanOrEqual(1);
});

test("a disk that is mounted in it stays, with what is on it, and is named", async (context) => {
  const disk = await loopDisk("tmpfs", { bytes: 1024 * 1024 });
  if (typeof disk === "string") skipWithReason(context, disk);
  using outer = disk;
  const inside = join(outer.path, "inside");
  mkdirSync(join(inside, "a/mounted"), { recursive: true });
  writeFileSync(join(inside, "a/gone.md"), "x");
  execFileSync("mount", ["-t", "tmpfs", "tmpfs", join(inside, "a/mounted")]);
  try {
    writeFileSync(join(inside, "a/mounted/kept.md"), "kept");
    using directory = opened(inside, "descriptor");
    const reason = "it is in use, for example as a mount point";
    expect(await directory.removeTree()).toEqual([{ path: "a/mounted", reason }]);
    expect(readdirSync(join(inside, "a"))).toEqual(["mounted"]);
    expect(readFileSync(join(inside, "a/mounted/kept.md"), "utf8")).toBe("kept");
  } finally {
    execFileSync("umount", [join(inside, "a/mounted")]);
  }
});

test("an aborted removal ends with the signal's reason, and another one goes on", async () => {
  using folder = temporaryFolder();
  for (let at = 0; at < 500; at++) writeFileSync(join(folder.path, `${at}`), "");
  using directory = opened(folder.path, "descriptor");
  const reason = new Error("closing");
  await expect(directory.removeTree(AbortSignal.abort(reason))).rejects.toBe(reason);
  expect(existsSync(join(folder.path, "499"))).toBe(true);
  expect(await directory.removeTree()).toEqual([]);
  expect(readdirSync(folder.path)).toEqual([]);
});

test("two removals of one tree do not disturb each other", async () => {
  using folder = temporaryFolder();
  for (let at = 0; at < 300; at++) {
    mkdirSync(join(folder.path, `d${at % 10}`), { recursive: true });
    writeFileSync(join(folder.path, `d${at % 10}`, `${at}`), "");
  }
  using one = opened(folder.path, "descriptor");
  using other = opened(folder.path, "descriptor");
  expect(await Promise.all([one.removeTree(), other.removeTree()])).toEqual([[], []]);
  expect(readdirSync(folder.path)).toEqual([]);
});

/** Replacing a file exchanges its name with the new file's: what can be in its place, and what is left behind. */
import {
  linkSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";

import { createRuntime } from "memcell";
import { expect, test } from "vitest";

import { DiskRoot } from "../../host/disk/data-root.ts";
import { replaceFile } from "../../host/store/files/commit/apply-files.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const isLinux = process.platform === "linux";

function replace(path: string): void {
  using root = new DiskRoot(path).open();
  if (root === null) throw new Error("The folder is not there");
  root.create("staged", Buffer.from("new"), "staged");
  replaceFile({ folder: root, name: "staged" }, { folder: root, name: "a.md" });
}

const places = [
  { name: "a file", lay: (path: string) => writeFileSync(path, "old") },
  { name: "nothing", lay: () => {} },
  { name: "a link", lay: (path: string) => symlinkSync("outside", path) },
  {
    name: "a second name of a file",
    lay: (path: string) => {
      linkSync(join(path, "../outside"), path);
    },
  },
];

test.for(places)("$name is replaced, and nothing is left behind", ({ lay }) => {
  using folder = temporaryFolder();
  writeFileSync(join(folder.path, "outside"), "outside");
  lay(join(folder.path, "a.md"));
  replace(folder.path);
  expect(readdirSync(folder.path).toSorted()).toEqual(["a.md", "outside"]);
  expect(readFileSync(join(folder.path, "a.md"), "utf8")).toBe("new");
  expect(readFileSync(join(folder.path, "outside"), "utf8")).toBe("outside");
  expect(statSync(join(folder.path, "a.md")).nlink).toBe(1);
});

test("a folder is not replaced, and the new file stays where it is", () => {
  using folder = temporaryFolder();
  mkdirSync(join(folder.path, "a.md"));
  symlinkSync("b", join(folder.path, "a.md/link"));
  expect(() => replace(folder.path)).toThrow("a folder is in its place");
  expect(readlinkSync(join(folder.path, "a.md/link"))).toBe("b");
  expect(readFileSync(join(folder.path, "staged"), "utf8")).toBe("new");
});

test.skipIf(!isLinux)("two files exchange their names in one step; if one is missing, nothing changes", () => {
  using folder = temporaryFolder();
  using root = new DiskRoot(folder.path).open();
  writeFileSync(join(folder.path, "a"), "of a");
  writeFileSync(join(folder.path, "b"), "of b");
  expect(root?.exchange("a", root, "b")).toBe(true);
  expect(readFileSync(join(folder.path, "a"), "utf8")).toBe("of b");
  expect(readFileSync(join(folder.path, "b"), "utf8")).toBe("of a");
  expect(root?.exchange("a", root, "c")).toBe(false);
  expect(readdirSync(folder.path).toSorted()).toEqual(["a", "b"]);
});

test("a person's folder that a killed process has exchanged for its file stays, and calls succeed", async () => {
  using folder = temporaryFolder();
  await using runtime = await createRuntime({ dataDir: folder.path, threadsMax: 1 });
  const upsert = (body: string): ReturnType<typeof runtime.call> =>
    runtime.call(
      "UpdateUserMemory",
      { action: "upsert", name: "a", type: "user", description: "A", body },
      { userId: "alice" },
    );
  expect(await upsert("one")).toMatchObject({ ok: true });
  const traded = join(folder.path, "users/alice/.memcell/staged-0");
  mkdirSync(traded);
  writeFileSync(join(traded, "notes.md"), "of a person");
  expect(await upsert("two")).toMatchObject({ ok: true });
  expect(readFileSync(join(folder.path, "users/alice/memory/a.md"), "utf8")).toContain("two");
  expect(readFileSync(join(traded, "notes.md"), "utf8")).toBe("of a person");
});

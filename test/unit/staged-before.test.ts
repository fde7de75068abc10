/** Files that the host stages before a call: the guest can read them, but they are not the guest's changes. */
import { expect, test } from "vitest";

import { StagedChanges } from "../../host/guest/capabilities/staged-changes.ts";
import type { SizedChange } from "../stage/store.ts";

const scope = "memory";
const written = (path: string, text: string): SizedChange => ({
  kind: "write",
  scope,
  path,
  content: Buffer.from(text),
  bytes: text.length,
});

test("staged files are visible, but count neither as the call's changes nor as bytes it has written", () => {
  const staged = new StagedChanges([
    written("a.md", "12345"),
    { kind: "trash", scope, path: "b.md", trashed: "trash/b.md", bytes: 7 },
    written("b.md", "1"),
    { kind: "remove", scope, path: "c.md", bytes: 3 },
    { kind: "restore", scope, path: "trash/d.md", restored: "d.md", bytes: 4 },
  ]);
  expect(staged.fileAt(scope, "a.md")).toMatchObject({ kind: "written", bytes: 5 });
  expect(staged.fileAt(scope, "b.md")).toMatchObject({ kind: "written", bytes: 1 });
  expect(staged.fileAt(scope, "trash/b.md")).toEqual({ kind: "moved", from: "b.md", bytes: 7 });
  expect(staged.fileAt(scope, "c.md")).toEqual({ kind: "gone" });
  expect(staged.fileAt(scope, "trash/d.md")).toEqual({ kind: "gone" });
  expect(staged.fileAt(scope, "d.md")).toEqual({ kind: "moved", from: "trash/d.md", bytes: 4 });
  expect(staged.touched(scope)).toHaveLength(6);
  expect([staged.changeCount, staged.toChangeSet()]).toEqual([0, []]);
  expect(staged.writtenBytesWith(scope, "a.md", 2)).toBe(2);
  expect(staged.writtenBytesWith(scope, "new.md", 2)).toBe(2);
});

test("a call's changes to them are its own, and count", () => {
  const staged = new StagedChanges([written("a.md", "12345")]);
  staged.write(scope, "a.md", "xyz", 3);
  expect(staged.writtenBytesWith(scope, "a.md", 4)).toBe(4);
  expect(staged.writtenBytesWith(scope, "b.md", 4)).toBe(7);
  expect(staged.toChangeSet()).toEqual([{ kind: "write", scope, path: "a.md", content: "xyz", bytes: 3 }]);
});

test("a file that was staged and written once can be moved to the trash", () => {
  const staged = new StagedChanges([written("a.md", "12345")]);
  const file = staged.fileAt(scope, "a.md");
  if (file === undefined) throw new Error("it is not there");
  staged.trash(scope, "a.md", "trash/a.md", file);
  expect(staged.fileAt(scope, "trash/a.md")).toBe(file);
  expect(staged.fileAt(scope, "a.md")).toEqual({ kind: "gone" });
  expect(staged.toChangeSet()).toEqual([{ kind: "trash", scope, path: "a.md", trashed: "trash/a.md", bytes: 5 }]);
});

/** A store in a folder, and helpers for tests of disks. */
import type { TestContext } from "vitest";

import type { ChangeSet, UserId } from "../stage/store.ts";
import { loopDisk } from "../support/loop-disk.ts";
import type { LoopDisk, LoopDiskKind, LoopDiskOptions } from "../support/loop-disk.ts";
import { skipWithReason } from "../support/skip-with-reason.ts";
import { DiskRoot, FileStore } from "./host-under-test.ts";

export const alice = "alice" as UserId;

export type StoreUnderTest = InstanceType<typeof FileStore>;

/** Returns a disk, or skips the test if this machine cannot make one. */
export async function diskOr(context: TestContext, kind: LoopDiskKind, options: LoopDiskOptions): Promise<LoopDisk> {
  const disk = await loopDisk(kind, options);
  return typeof disk === "string" ? skipWithReason(context, disk) : disk;
}

export function openStore(dataDir: string): StoreUnderTest {
  return new FileStore(new DiskRoot(dataDir), { durability: "full", note: () => {} });
}

/** Holds the user Alice, runs the given work, and commits. */
export async function commit(
  store: StoreUnderTest,
  changes: ChangeSet,
  between: () => unknown = () => {},
): Promise<void> {
  await store.hold(alice, { writes: true, until: performance.now() + 10_000 }, async (held) => {
    await between();
    await held.commit(changes, []);
  });
}

export const write = (path: string, content: string): ChangeSet[number] => ({
  kind: "write",
  scope: "memory",
  path,
  content,
});

export const trash = (path: string, trashed: string): ChangeSet[number] => ({
  kind: "trash",
  scope: "memory",
  path,
  trashed,
});

/** The changes of one entry: a fact and the index. */
export const entry = (name: string, text: string): ChangeSet => [
  write(`${name}.md`, text),
  write("MEMORY.md", `index ${name}`),
];

/** Returns `ok` or the error's code. */
export async function codeOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
    return "ok";
  } catch (error) {
    return (error as { code?: string }).code ?? String(error);
  }
}

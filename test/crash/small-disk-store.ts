/** A store in a folder, and helpers for tests of disks. */
import { writeFileSync } from "node:fs";

import type { TestContext } from "vitest";

import type { ChangeSet } from "../stage/store.ts";
import { loopDisk } from "../support/loop-disk.ts";
import type { LoopDisk, LoopDiskKind, LoopDiskOptions } from "../support/loop-disk.ts";
import { skipWithReason } from "../support/skip-with-reason.ts";
import { alice } from "./homes/user.ts";
import { DiskRoot, openFiles } from "./store-under-test.ts";
import type { StoreUnderTest } from "./store-under-test.ts";

export { alice } from "./homes/user.ts";

/** Fills a disk to the last byte. */
export function fillUp(path: string): void {
  const content = Buffer.alloc(4096, 1);
  try {
    for (;;) writeFileSync(path, content, { flag: "a" });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
  }
}

/** Returns a disk, or skips the test if this machine cannot make one. */
export async function diskOr(context: TestContext, kind: LoopDiskKind, options: LoopDiskOptions): Promise<LoopDisk> {
  const disk = await loopDisk(kind, options);
  return typeof disk === "string" ? skipWithReason(context, disk) : disk;
}

type StoreOptions = Parameters<typeof openFiles>[1];

/** `boot`: the start of the machine. Default: this one. */
export function openStore(dataDir: string, options: Partial<StoreOptions> = {}, boot?: string): StoreUnderTest {
  return openFiles(new DiskRoot(dataDir), { durability: "full", note: () => {}, ...options }, boot);
}

/** Holds the user Alice, runs the given work, and commits. */
export async function commit(
  store: StoreUnderTest,
  changes: ChangeSet,
  between: () => unknown = () => {},
): Promise<void> {
  await store.holdUser(alice, { writes: true, until: performance.now() + 10_000 }, async (held) => {
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

export const remove = (path: string): ChangeSet[number] => ({ kind: "remove", scope: "memory", path });

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

/**
 * A data folder with users that a runtime has created, another user (Bob) whose files are the target, and a copy of
 * Bob's folder outside the data folder. Tests put something hostile into a user's folder and check what a call does.
 */
import { cpSync, mkdirSync } from "node:fs";
import { join } from "node:path";

import { createRuntime } from "memcell";
import type { Runtime } from "memcell";
import { expect } from "vitest";

import { openDescriptorsAtRest } from "../support/open-descriptors.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { treeFingerprint } from "../support/tree-fingerprint.ts";
import { userFolder } from "../support/user-files.ts";

/** Part of every text of Bob, and so of the folder outside. */
export const secret = "secret of bob";

/** The outcome of each use of a user's memory: `ok` or an error code. */
export interface Outcomes {
  readonly read: string;
  readonly index: string;
  readonly upsert: string;
  readonly remove: string;
}

export interface FolderStage {
  readonly runtime: Runtime;
  readonly dataDir: string;
  /** Has the layout of a user's folder, but belongs to no user. */
  readonly outside: string;
  folderOf(userId: string): string;
  /**
   * Reads, indexes, replaces and deletes the user's entry `x`. Fails when a result reveals anything about the host or
   * Bob, when Bob's folder or the one outside has changed, or when another user's call fails.
   */
  use(userId: string): Promise<Outcomes>;
  /** The same without checks of the other users. */
  useAlone(userId: string): Promise<Outcomes>;
  close(): Promise<void>;
}

export async function openFolderStage(userIds: readonly string[]): Promise<FolderStage> {
  const folder = temporaryFolder();
  const dataDir = join(folder.path, "data");
  const outside = join(folder.path, "outside");
  await makeUsers(dataDir, userIds);
  mkdirSync(outside);
  cpSync(userFolder(dataDir, "bob"), outside, { recursive: true });
  const runtime = await createRuntime({ dataDir, threadsMax: 1 });
  return {
    runtime,
    dataDir,
    outside,
    folderOf: (userId) => userFolder(dataDir, userId),
    use: (userId) => useWatched(runtime, { userId, dataDir, outside, root: folder.path }),
    useAlone: (userId) => useAlone(runtime, userId, folder.path),
    async close() {
      await runtime.close();
      folder[Symbol.dispose]();
    },
  };
}

const factOf = (name: string, text: string) => ({
  action: "upsert",
  name,
  type: "user",
  description: text,
  body: text,
});

/** Each user gets an entry, its index, a file in the trash, and a retired WAL. */
async function makeUsers(dataDir: string, userIds: readonly string[]): Promise<void> {
  await using runtime = await createRuntime({ dataDir, threadsMax: 1, durability: "relaxed" });
  const make = async (userId: string): Promise<void> => {
    const text = userId === "bob" ? secret : `of ${userId}`;
    for (const name of ["x", "old"]) await runtime.call("UpdateUserMemory", factOf(name, text), { userId });
    const deleted = await runtime.call("UpdateUserMemory", { action: "delete", name: "old" }, { userId });
    expect(deleted).toMatchObject({ ok: true });
  };
  await Promise.all(["bob", "carol", ...userIds].map(make));
}

interface Watched {
  readonly userId: string;
  readonly dataDir: string;
  readonly outside: string;
  readonly root: string;
}

async function useWatched(runtime: Runtime, { userId, dataDir, outside, root }: Watched): Promise<Outcomes> {
  const watched = [userFolder(dataDir, "bob"), outside];
  const before = watched.map(treeFingerprint);
  const outcomes = await useAlone(runtime, userId, root);
  expect(watched.map(treeFingerprint)).toEqual(before);
  expect(await runtime.call("ReadUserMemory", { name: "x" }, { userId: "carol" })).toMatchObject({ ok: true });
  return outcomes;
}

async function useAlone(runtime: Runtime, userId: string, root: string): Promise<Outcomes> {
  const call = async (tool: string, input: object): Promise<string> => {
    const result = await runtime.call(tool, input, { userId });
    expectDiscreet(JSON.stringify(result), root);
    return result.ok ? "ok" : result.error.code;
  };
  const index = async (): Promise<string> => {
    try {
      // One family alone, because an index of several families leaves out one that cannot be read.
      expectDiscreet(await runtime.memoryIndex({ userId }, { family: "user-memory" }), root);
      expectDiscreet(await runtime.memoryIndex({ userId }), root);
      return "ok";
    } catch (error) {
      const { code, message } = error as { code: string; message: string };
      expectDiscreet(message, root);
      return code;
    }
  };
  const outcomes = {
    read: await call("ReadUserMemory", { name: "x" }),
    index: await index(),
    upsert: await call("UpdateUserMemory", factOf("x", "mine")),
    remove: await call("UpdateUserMemory", { action: "delete", name: "x" }),
  };
  expect(await openDescriptorsAtRest(userFolder(join(root, "data"), userId))).toEqual([]);
  return outcomes;
}

/** Fails on Bob's content, a path of the host, or an error name of the operating system. */
function expectDiscreet(text: string, root: string): void {
  expect(text).not.toContain(secret);
  expect(text).not.toContain(root);
  expect(text).not.toMatch(/\bE(?:NOENT|LOOP|ISDIR|NOTDIR|ACCES|PERM|XIO|XDEV|INVAL|IO)\b|\/proc\/|\\n {4}at /);
}

/**
 * Users with a folder and a shared store of their own, and Bob, whose files are the target: his folders, and copies of
 * them outside the data folder. Tests put something hostile into a folder and check what each use of it does.
 */
import { cpSync } from "node:fs";
import { join } from "node:path";

import { createRuntime, storeIdOf } from "memcell";
import type { Runtime, ToolResult } from "memcell";
import { expect } from "vitest";

import { userFolder } from "../support/user-files.ts";

/** Part of every text of Bob, and so of what lies outside. */
export const secret = "secret of bob";

export const homes = ["user", "store"] as const;
export type Home = (typeof homes)[number];

/** `ok` or a code for each use: of a user's memory a reading, the index, an upsert, a deletion; of a store as below. */
export type Outcomes = readonly [read: string, list: string, write: string, other: string];

export const scopes = { user: "memory", store: "entries" } as const;

export function homeFolder(dataDir: string, home: Home, userId: string): string {
  return home === "user" ? userFolder(dataDir, userId) : join(dataDir, "stores", storeIdOf(userId));
}

export const openFolders = (dataDir: string): Promise<Runtime> =>
  createRuntime({ dataDir, plugins: ["user-memory", "stores"], threadsMax: 1 });

const factOf = (name: string, text: string) => ({
  action: "upsert",
  name,
  type: "user",
  description: text,
  body: text,
});
const create = (content: string) => ({ command: "create", path: "/memories/x.md", content });

/** Each user gets an entry, its index, a file in the trash, a WAL, and a store with an entry and a grant. */
export async function makeFolders(folder: string, userIds: readonly string[]): Promise<void> {
  const dataDir = join(folder, "data");
  await using runtime = await createRuntime({
    dataDir,
    plugins: ["user-memory", "stores"],
    threadsMax: 1,
    durability: "relaxed",
  });
  const make = async (userId: string): Promise<void> => {
    const text = userId === "bob" ? secret : `of ${userId}`;
    const call = async (tool: string, input: object): Promise<void> =>
      expect(await runtime.call(tool, input, { userId })).toMatchObject({ ok: true });
    for (const name of ["x", "old"]) await call("UpdateUserMemory", factOf(name, text));
    await call("UpdateUserMemory", { action: "delete", name: "old" });
    await call("memory", create(text));
    await runtime.stores({ userId }).grant("erin", { level: "read" });
  };
  await Promise.all(["bob", ...userIds].map(make));
  await runtime.close();
  for (const home of homes)
    cpSync(homeFolder(dataDir, home, "bob"), join(folder, "outside", home), { recursive: true });
}

/** Uses a user's memory, or the user's own store. Fails when an answer reveals anything of Bob or the machine. */
export async function useFolder(runtime: Runtime, home: Home, userId: string, folder: string): Promise<Outcomes> {
  const ctx = { userId };
  const told = async (work: Promise<unknown>): Promise<string> => {
    const [code, shown] = await work.then(
      (answer) => [(answer as ToolResult | undefined)?.ok === false ? codeOf(answer) : "ok", answer] as const,
      (error: Error & { readonly code: string }) => [error.code, error.message] as const,
    );
    const text = JSON.stringify(shown) ?? "";
    expect(text).not.toContain(secret);
    expect(text).not.toContain(folder);
    expect(text).not.toMatch(/\bE(?:NOENT|LOOP|ISDIR|NOTDIR|ACCES|PERM|XIO|XDEV|INVAL|IO)\b|\/proc\/|\\n {4}at /);
    return code;
  };
  const call = (tool: string, input: object): Promise<string> => told(runtime.call(tool, input, ctx));
  if (home === "store") {
    const read = await call("memory", { command: "view", path: "/memories/x.md" });
    const list = await told(runtime.stores(ctx).grants());
    const write = await call("memory", create("mine"));
    return [read, list, write, await told(runtime.stores(ctx).grant("dave", { level: "read" }))];
  }
  const read = await call("ReadUserMemory", { name: "x" });
  // One family alone, because an index of several families leaves out one that cannot be read.
  const list = await told(runtime.memoryIndex(ctx, { family: "user-memory" }));
  const write = await call("UpdateUserMemory", factOf("x", "mine"));
  return [read, list, write, await call("UpdateUserMemory", { action: "delete", name: "x" })];
}

const codeOf = (answer: unknown): string => (answer as { readonly error: { readonly code: string } }).error.code;

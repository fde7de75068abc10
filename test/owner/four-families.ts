/** A user with entries of all shipped plugins, live and in the trash, and what tools show of them. */
import { createRuntime, storeIdOf } from "memcell";
import type { Runtime, RuntimeOptions, ToolResult } from "memcell";
import { expect } from "vitest";

import { shippedNames } from "../support/test-plugin.ts";

/** A text of the user's that can be searched for on the disk. */
export const mark = "heliotrope";

export const openAll = (dataDir: string, options: Partial<RuntimeOptions> = {}): Promise<Runtime> =>
  createRuntime({ dataDir, plugins: shippedNames(), threadsMax: 1, ...options });

export async function fillAll(runtime: Runtime, userId: string): Promise<void> {
  const call = async (tool: string, input: object): Promise<void> => {
    expect(await runtime.callAsHost(tool, input, { userId })).toMatchObject({ ok: true });
  };
  const ask = async (tool: string, input: object): Promise<void> => {
    expect(await runtime.call(tool, input, { userId })).toMatchObject({ ok: true });
  };
  for (const name of ["kept", "gone"]) {
    await ask("UpdateUserMemory", { action: "upsert", name, type: "user", description: mark, body: `${mark} ${name}` });
  }
  await ask("UpdateUserMemory", { action: "delete", name: "gone" });
  await ask("memory_write", { key: "k", content: `${mark} in a block`, tags: ["t"] });
  const events = [{ type: "user_message", timestamp: "2026-01-01T10:00:00Z", data: JSON.stringify({ message: mark }) }];
  await call("run-history/AppendRunEvents", { agentId: "agent", runId: "run", events });
  for (const path of ["/memories/notes/kept.md", "/memories/gone.md"]) {
    await call("memory", { command: "create", path, content: `${mark} at ${path}` });
  }
  await call("memory", { command: "delete", path: "/memories/gone.md" });
  await runtime.stores({ userId }).setInternal(null, "key", mark, { namespace: "app" });
}

/** What the tools of all families show of a user, and the trash. */
export async function shownBy(runtime: Runtime, userId: string): Promise<Record<string, unknown>> {
  const ctx = { userId };
  const call = async (tool: string, input: object): Promise<ToolResult> => runtime.call(tool, input, ctx);
  return {
    entry: await call("ReadUserMemory", { name: "kept" }),
    index: await runtime.memoryIndex(ctx),
    block: await call("memory_read", { key: "k" }),
    blocks: await call("memory_search", { query: mark }),
    run: await call("ReadRunHistory", { agentId: "agent", runId: "run" }),
    note: await call("memory", { command: "view", path: "/memories/notes/kept.md" }),
    notes: await call("memory", { command: "search", query: mark }),
    internal: await runtime.stores(ctx).getInternal(null, "key", { namespace: "app" }),
    trash: (await runtime.upkeep.listTrash(ctx)).map(({ scope, name }) => `${scope} ${name}`),
    findings: await runtime.upkeep.inspect(ctx),
  };
}

export const ownStore = (userId: string): string => storeIdOf(userId);

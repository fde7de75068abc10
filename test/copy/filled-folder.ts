/** A data folder that real calls have made, with everything in it that there can be. */
import { appendFileSync, mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { createRuntime, storeIdOf } from "memcell";
import type { CallContext, Runtime } from "memcell";
import { expect } from "vitest";

import { fillAll } from "../owner/four-families.ts";
import { shippedNames } from "../support/test-plugin.ts";
import { userFolder } from "../support/user-files.ts";

/** With case, Unicode, dots, and a UUID, whose own store is itself. */
export const users = [
  "alice",
  "Alice",
  "müller 日本",
  "..dots..",
  "a.b@example.com",
  "0b4f6c1e-6d0e-4f4e-9c61-3f5b1c9a2d10",
];
/** A principal that has only left a store. */
export const leaver = "leaver";
/** Somebody of whom only a write waits. */
export const waiting = "waiting";

const chat = "7b0a3c52-6d0e-4f4e-9c61-3f5b1c9a2d10";

const web: CallContext["origin"] = { class: "tool_external", run: "run-7", source: "https://example.com/menu" };

const upsert = (name: string, body: string): object => ({
  action: "upsert",
  name,
  type: "user",
  description: "d",
  body,
});

export async function fillFolder(dataDir: string): Promise<void> {
  {
    await using runtime = await createRuntime({ dataDir, plugins: shippedNames(), threadsMax: 1 });
    for (const userId of users) await fillAll(runtime, userId);
    await share(runtime);
    // A store that is no user's.
    const said = { command: "create", path: `/memories/shared/${chat}/chat.md`, content: "said in a chat" };
    const ctx = { userId: "alice", stores: [{ id: chat, kind: "chat" as const }] };
    expect(await runtime.call("memory", said, ctx)).toMatchObject({ ok: true });
    await write(runtime, "alice", upsert("menu", "Bread"), { class: "direct_user", run: "honest" });
    // These wait for their owners.
    for (const userId of ["alice", waiting])
      await runtime.call("UpdateUserMemory", upsert("menu", "Soup"), { userId, origin: web });
    await write(runtime, "alice", upsert("undone", "first"), { class: "direct_user", run: "honest" });
    await write(runtime, "alice", upsert("undone", "second"), { class: "direct_user", run: "wrong" });
    await runtime.upkeep.undo({ userId: "alice" }, { run: "wrong" });
    await write(runtime, "Alice", upsert("secret", "to be purged"));
    await write(runtime, "Alice", { action: "delete", name: "secret" });
    await runtime.upkeep.purge({ userId: "Alice" }, { beforeEpochMs: Date.now() + 60_000 });
  }
  // By hand, with an old time, and one that a later change meets.
  const byHand = join(userFolder(dataDir, "alice"), "memory", "kept.md");
  appendFileSync(byHand, "one more line\n");
  writeByHand(userFolder(dataDir, "alice"), "memory/by-hand.md", "---\nname: by-hand\n---\nmine\n");
  writeByHand(userFolder(dataDir, "by.hand"), "memory/only.md", "nobody else has written here\n");
  await using runtime = await createRuntime({ dataDir, plugins: shippedNames(), threadsMax: 1 });
  await write(runtime, "alice", upsert("kept", "meets the edit"));
}

function writeByHand(folder: string, path: string, text: string): void {
  const file = join(folder, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  utimesSync(file, 1_600_000_000.25, 1_600_000_000.123456);
}

async function share(runtime: Runtime): Promise<void> {
  const stores = runtime.stores({ userId: "alice" });
  for (const to of ["Alice", "planner", leaver]) await stores.grant(to, { level: "read" });
  await stores.grant("critic", { level: "search", expiresAt: new Date(Date.now() + 3_600_000) });
  await runtime.stores({ userId: leaver }).leave(storeIdOf("alice"));
}

async function write(runtime: Runtime, userId: string, input: object, origin?: CallContext["origin"]): Promise<void> {
  expect(await runtime.call("UpdateUserMemory", input, { userId, ...(origin && { origin }) })).toMatchObject({
    ok: true,
  });
}

/** A runtime with one thread, misbehaving guests that Alice calls, and a well-behaved one that Bob calls after her. */
import { join } from "node:path";

import { createRuntime } from "memcell";
import type { LogEntry, Runtime, RuntimeOptions, ToolResult } from "memcell";
import { expect } from "vitest";

import { policyFor } from "../support/policy-for.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { shippedPlugin } from "../support/test-plugin.ts";
import { readUserFiles, userFolderNames } from "../support/user-files.ts";

export interface GuestStage {
  readonly runtime: Runtime;
  readonly dataDir: string;
  /** The guests' log lines, and the host's messages for the operator. */
  readonly log: LogEntry[];
  /** Calls a tool for Alice. */
  misbehave(tool: string, input?: unknown): Promise<ToolResult>;
  /** Fails unless Alice has no file and Bob's call succeeds. */
  expectHarmless(): Promise<void>;
  close(): Promise<void>;
}

/** `writeGuests` writes the guests into a folder and returns their files. */
export async function openGuestStage(
  writeGuests: (folder: string) => string[],
  options: Partial<RuntimeOptions> = {},
): Promise<GuestStage> {
  const folder = temporaryFolder();
  const dataDir = join(folder.path, "data");
  const log: LogEntry[] = [];
  const plugins = [...writeGuests(folder.path), shippedPlugin("user-memory")];
  const runtime = await createRuntime({
    dataDir,
    plugins,
    policy: policyFor(plugins),
    threadsMax: 1,
    onLog: (entry) => log.push(entry),
    ...options,
  });
  let notes = 0;
  return {
    runtime,
    dataDir,
    log,
    misbehave: (tool, input = {}) => runtime.call(tool, input, { userId: "alice" }),
    async expectHarmless() {
      expect(userFolderNames(dataDir).includes("alice") ? readUserFiles(dataDir, "alice") : {}).toEqual({});
      await expectServed(runtime, `note-${++notes}`);
      expect(Object.keys(readUserFiles(dataDir, "bob"))).toContain(`memory/note-${notes}.md`);
    },
    async close() {
      await runtime.close();
      folder[Symbol.dispose]();
    },
  };
}

/** Fails unless Bob's well-behaved call succeeds. */
export async function expectServed(runtime: Runtime, name: string): Promise<void> {
  const entry = { action: "upsert", name, type: "user", description: "d", body: `body of ${name}` };
  expect(await runtime.call("UpdateUserMemory", entry, { userId: "bob" })).toMatchObject({ ok: true });
  const read = await runtime.call("ReadUserMemory", { name }, { userId: "bob" });
  expect(read).toMatchObject({ ok: true, data: { body: `body of ${name}` } });
}

/** A runtime with one thread, misbehaving guests that Alice calls, and a well-behaved one that Bob calls after her. */
import type { RuntimeOptions, ToolResult } from "memcell";
import { expect } from "vitest";

import { openStage } from "../stage/runtime.ts";
import type { RuntimeStage } from "../stage/runtime.ts";
import { policyFor } from "../support/policy-for.ts";
import { shippedPlugin } from "../support/test-plugin.ts";

export interface GuestStage extends RuntimeStage {
  /** Calls a tool for Alice. */
  misbehave(tool: string, input?: unknown): Promise<ToolResult>;
  /** Fails unless Alice has no file and Bob's call succeeds. */
  expectHarmless(): Promise<void>;
}

/** `writeGuests` writes the guests into a folder and returns their files. */
export async function openGuestStage(
  writeGuests: (folder: string) => string[],
  options: Partial<RuntimeOptions> = {},
): Promise<GuestStage> {
  const stage = await openStage((folder) => {
    const plugins = [...writeGuests(folder), shippedPlugin("user-memory")];
    return { plugins, policy: policyFor(plugins), threadsMax: 1, ...options };
  });
  const { runtime } = stage;
  let notes = 0;
  return Object.assign(stage, {
    misbehave: (tool: string, input: unknown = {}) => runtime.call(tool, input, { userId: "alice" }),
    async expectHarmless() {
      expect(stage.files("alice")).toEqual({});
      const name = `note-${++notes}`;
      const entry = { action: "upsert", name, type: "user", description: "d", body: `body of ${name}` };
      expect(await runtime.call("UpdateUserMemory", entry, { userId: "bob" })).toMatchObject({ ok: true });
      const read = await runtime.call("ReadUserMemory", { name }, { userId: "bob" });
      expect(read).toMatchObject({ ok: true, data: { body: `body of ${name}` } });
      expect(Object.keys(stage.files("bob"))).toContain(`memory/${name}.md`);
    },
  });
}

/**
 * Three trees that no hostile text may change: the user's own folder, another user's, and one outside the data folder.
 * Each has the same names in it, so that an escape finds something to read.
 */
import { cpSync, mkdirSync } from "node:fs";
import { join } from "node:path";

import { createRuntime } from "memcell";
import type { Runtime, ToolResult } from "memcell";
import { expect } from "vitest";

import { policyFor } from "../support/policy-for.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { shippedPlugin, testPlugin } from "../support/test-plugin.ts";
import { treeFingerprint } from "../support/tree-fingerprint.ts";
import { userFolder } from "../support/user-files.ts";

const secret = "secret of bob";
/** A denial shows only a part of the requested path. */
const messageCharsMax = 1000;

export interface ConfinementStage {
  readonly runtime: Runtime;
  readonly dataDir: string;
  /** Sends one capability request from a guest that has every right. */
  ask(of: string, request: object): Promise<ToolResult>;
  /** Fails unless a result has this code, or succeeds, and reveals nothing of the other user or the machine. */
  expectCode(result: ToolResult, code: string): void;
  /** Fails unless everything is as it was at the beginning, to the nanosecond. */
  expectUntouched(): void;
  close(): Promise<void>;
}

const fact = (name: string, text: string) => ({ action: "upsert", name, type: "user", description: text, body: text });

export async function openConfinementStage(): Promise<ConfinementStage> {
  const folder = temporaryFolder();
  const dataDir = join(folder.path, "data");
  const outside = join(folder.path, "outside");
  await makeUsers(dataDir);
  mkdirSync(outside);
  cpSync(userFolder(dataDir, "bob"), outside, { recursive: true });
  const plugins = [testPlugin("puppet"), shippedPlugin("user-memory")];
  const runtime = await createRuntime({ dataDir, plugins, policy: policyFor(plugins), threadsMax: 1 });
  // The whole tree, so that a new file is noticed wherever it is.
  const before = treeFingerprint(folder.path);
  return {
    runtime,
    dataDir,
    ask: (of, request) => runtime.call("Puppet", [{ of, request: JSON.stringify(request) }], { userId: "alice" }),
    expectCode(result, code) {
      expect(result.ok ? "ok" : result.error.code).toBe(code);
      const shown = JSON.stringify(result);
      expect(shown).not.toContain(secret);
      expect(shown).not.toContain(folder.path);
      expect(shown.length).toBeLessThan(messageCharsMax);
    },
    expectUntouched: () => expect(treeFingerprint(folder.path)).toEqual(before),
    async close() {
      await runtime.close();
      folder[Symbol.dispose]();
    },
  };
}

async function makeUsers(dataDir: string): Promise<void> {
  await using runtime = await createRuntime({ dataDir, threadsMax: 1 });
  for (const userId of ["alice", "bob"]) {
    const text = userId === "bob" ? secret : "of alice";
    for (const name of ["x", "old"]) await runtime.call("UpdateUserMemory", fact(name, text), { userId });
    await runtime.call("UpdateUserMemory", { action: "delete", name: "old" }, { userId });
  }
}

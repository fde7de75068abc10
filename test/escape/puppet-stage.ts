/** Alice and Bob with a file each, and a plugin that runs a test's steps for Alice. */
import { createRuntime } from "memcell";
import type { Runtime, ToolResult } from "memcell";
import { expect } from "vitest";

import { policyFor } from "../support/policy-for.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { testPlugin } from "../support/test-plugin.ts";
import { readUserFiles, userFolderNames, writeUserFiles } from "../support/user-files.ts";

const before = {
  alice: { "memory/a.md": "of alice", "memory/trash/old.md": "trashed" },
  bob: { "memory/a.md": "of bob" },
};

export interface PuppetStage {
  /** Runs steps for Alice, with every right unless another tool is named. */
  play(steps: readonly unknown[], tool?: "Puppet" | "ReadingPuppet"): Promise<ToolResult>;
  readonly runtime: Runtime;
  readonly dataDir: string;
  /** Fails if any user's folder has changed. */
  expectUntouched(): void;
  /** Fails unless a result is a denial that reveals nothing. */
  expectDenied(result: ToolResult): void;
  close(): Promise<void>;
}

const clock = (): number => 1_700_000_000_000;

export async function openPuppetStage(): Promise<PuppetStage> {
  const folder = temporaryFolder();
  const dataDir = folder.path;
  writeUserFiles(dataDir, before);
  const plugins = [testPlugin("puppet")];
  const policy = policyFor(plugins);
  const runtime = await createRuntime({ dataDir, plugins, policy, threadsMax: 1, clock });
  return {
    runtime,
    dataDir,
    play: (steps, tool = "Puppet") => runtime.call(tool, steps, { userId: "alice" }),
    expectUntouched() {
      expect(userFolderNames(dataDir)).toEqual(["alice", "bob"]);
      expect(readUserFiles(dataDir, "alice")).toEqual(before.alice);
      expect(readUserFiles(dataDir, "bob")).toEqual(before.bob);
    },
    expectDenied(result) {
      expect(result).toMatchObject({ ok: false, error: { code: "CAPABILITY_DENIED", blame: "guest" } });
      expect(JSON.stringify(result)).not.toContain("of bob");
      expect(JSON.stringify(result)).not.toContain(dataDir);
    },
    async close() {
      await runtime.close();
      folder[Symbol.dispose]();
    },
  };
}

/** A step that makes one capability request. */
export const ask = (of: string, request: unknown): { of: string; request: string } => ({
  of,
  request: JSON.stringify(request),
});

/** A request for a path of the memory scope. */
export const memory = (path: string, content?: string): object => ({
  scope: "memory",
  path,
  ...(content !== undefined && { content }),
});

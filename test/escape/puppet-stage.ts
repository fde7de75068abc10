/** Alice and Bob with a file each, and a plugin that runs a test's steps for Alice. */
import type { ToolResult } from "memcell";
import { expect } from "vitest";

import { openStage } from "../stage/runtime.ts";
import type { RuntimeStage } from "../stage/runtime.ts";
import { policyFor } from "../support/policy-for.ts";
import { testPlugin } from "../support/test-plugin.ts";
import { userFolderNames, writeUserFiles } from "../support/user-files.ts";

const before = {
  alice: { "memory/a.md": "of alice", "memory/trash/old.md": "trashed" },
  bob: { "memory/a.md": "of bob" },
};

export interface PuppetStage extends RuntimeStage {
  /** Runs steps for Alice, with every right unless another tool is named. */
  play(steps: readonly unknown[], tool?: "Puppet" | "ReadingPuppet"): Promise<ToolResult>;
  /** Fails if any user's folder has changed. */
  expectUntouched(): void;
  /** Fails unless a result is a denial that reveals nothing. */
  expectDenied(result: ToolResult): void;
}

const clock = (): number => 1_700_000_000_000;

export async function openPuppetStage(): Promise<PuppetStage> {
  const plugins = [testPlugin("puppet")];
  const stage = await openStage({ plugins, policy: policyFor(plugins), threadsMax: 1, clock });
  writeUserFiles(stage.dataDir, before);
  return Object.assign(stage, {
    play: (steps: readonly unknown[], tool = "Puppet") => stage.runtime.call(tool, steps, { userId: "alice" }),
    expectUntouched() {
      expect(userFolderNames(stage.dataDir)).toEqual(["alice", "bob"]);
      expect([stage.files("alice"), stage.files("bob")]).toEqual([before.alice, before.bob]);
    },
    expectDenied(result: ToolResult) {
      expect(result).toMatchObject({ ok: false, error: { code: "CAPABILITY_DENIED", blame: "guest" } });
      expect(JSON.stringify(result)).not.toContain("of bob");
      expect(JSON.stringify(result)).not.toContain(stage.folder);
    },
  });
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

/** A workspace whose folder is mounted as Alice's journal, and a puppet plugin with only that scope. */
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { createRuntime } from "memcell";
import type { Mount, Runtime, RuntimeOptions, ToolResult } from "memcell";

import { policyFor } from "../support/policy-for.ts";
import { manifestOf, resealPlugin } from "../support/reseal-plugin.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { testPlugin } from "../support/test-plugin.ts";

export interface MountedStage extends Disposable {
  /** The stage's root folder. */
  readonly path: string;
  readonly dataDir: string;
  /** The mounted folder. Does not exist until something creates it. */
  readonly dir: string;
  readonly mounts: readonly Mount[];
  /** Opens a runtime with the mount, unless other options replace it. */
  open(options?: Partial<RuntimeOptions>): Promise<Runtime>;
  /** Puts a file into the mounted folder, as another program does. */
  put(path: string, text: string): void;
  /** Every file in the mounted folder except the host's own. */
  files(): Record<string, string>;
}

export function mountedStage(scope = "journal"): MountedStage {
  const folder = temporaryFolder();
  const dir = join(folder.path, "ws", ".agent", "memory");
  const dataDir = join(folder.path, "data");
  const plugins = [journalPuppet(folder.path, scope)];
  const mounts = [{ userId: "alice", scope, dir }];
  return {
    path: folder.path,
    dataDir,
    dir,
    mounts,
    open: (options = {}) =>
      createRuntime({ dataDir, mounts, plugins, policy: policyFor(plugins), threadsMax: 1, ...options }),
    put(path, text) {
      mkdirSync(dirname(join(dir, path)), { recursive: true });
      writeFileSync(join(dir, path), text);
    },
    files: () => filesBelow(dir),
    [Symbol.dispose]: () => folder[Symbol.dispose](),
  };
}

/** The puppet plugin, with one scope for all tools that no other plugin has. */
export function journalPuppet(folder: string, scope = "journal"): string {
  const wasm = readFileSync(testPlugin("puppet"));
  const manifest = manifestOf(wasm);
  const tools = manifest.tools.map((tool) => ({ ...tool, scopes: [scope] }));
  const file = join(folder, "puppet.wasm");
  writeFileSync(file, resealPlugin(wasm, { ...manifest, tools }));
  return file;
}

/** Every regular file below a folder except the host's own. */
export function filesBelow(dir: string): Record<string, string> {
  const names = readdirSync(dir, { recursive: true, encoding: "utf8" }).toSorted();
  const files = names.filter((name) => !/^\.memcell(\/|$)/.test(name) && statSync(join(dir, name)).isFile());
  return Object.fromEntries(files.map((name) => [name, readFileSync(join(dir, name), "utf8")]));
}

export const alice = { userId: "alice" };

/** Steps for the puppet. Each requests one capability. */
export const read = (path: string, scope = "journal"): object => ({ of: "store_read", ask: { scope, path } });
export const list = (scope = "journal"): object => ({ of: "store_list", ask: { scope } });
export const write = (path: string, content: string, scope = "journal"): object => ({
  of: "store_write",
  ask: { scope, path, content },
});

export function play(
  runtime: Runtime,
  steps: readonly object[],
  userId = "alice",
  tool: "Puppet" | "ReadingPuppet" = "Puppet",
): Promise<ToolResult> {
  return runtime.call(tool, steps, { userId });
}

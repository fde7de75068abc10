/** A runtime with a scriptable plugin and one that never returns. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";

import { createRuntime } from "memcell";
import type { Runtime, RuntimeOptions, ToolResult } from "memcell";

import { assembleGuest } from "../support/assemble-guest.ts";
import { guestManifest } from "../support/guest-manifest.ts";
import { policyFor } from "../support/policy-for.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { testPlugin } from "../support/test-plugin.ts";
import { readUserFiles, userFolderNames } from "../support/user-files.ts";

const projectFolder = new URL(".", import.meta.resolve("memcell/package.json"));

export interface BoundedStage extends AsyncDisposable {
  readonly runtime: Runtime;
  readonly dataDir: string;
  /** Lets a user's guest stage `spun.md` and loop for ever. */
  spin(userId: string, signal?: AbortSignal): Promise<ToolResult>;
  /** Lets a user's guest write a file. */
  write(userId: string, path: string, signal?: AbortSignal): Promise<ToolResult>;
  /** How many tasks threads have been given since the start. */
  tasks(): number;
  /** Resolves when threads have been given this many tasks since the start. */
  handedOut(count: number): Promise<void>;
  /** Files in a user's scope by path. Empty for a user without a folder. */
  filesOf(userId: string): Record<string, string>;
}

/** What a stage's clock shows, apart from the number of tasks that threads have been given. */
export const clockStartMs = 1_700_000_000_000;

/** `manifestDeadlineMs` is the deadline in the spinner's manifest. */
export async function openBoundedStage(
  options: Partial<RuntimeOptions> = {},
  manifestDeadlineMs = 10_000,
): Promise<BoundedStage> {
  const folder = temporaryFolder();
  const dataDir = join(folder.path, "data");
  let tasks = 0;
  const clock = (): number => clockStartMs + ++tasks;
  const plugins = options.plugins ?? [testPlugin("puppet"), writeSpinner(folder.path, manifestDeadlineMs)];
  const policy = policyFor(plugins);
  const runtime = await createRuntime({
    ...(options.store === undefined && { dataDir }),
    policy,
    threadsMax: 1,
    clock,
    ...options,
    plugins,
  });
  return {
    runtime,
    dataDir,
    spin: (userId, signal) => runtime.call("Spin", {}, { userId, signal }),
    write: (userId, path, signal) => runtime.call("Puppet", [writing(path)], { userId, signal }),
    tasks: () => tasks,
    handedOut: (count) => until(() => tasks >= count),
    filesOf: (userId) => (userFolderNames(dataDir).includes(userId) ? readUserFiles(dataDir, userId) : {}),
    async [Symbol.asyncDispose]() {
      await runtime.close();
      folder[Symbol.dispose]();
    },
  };
}

/** A puppet's step that writes a file whose content contains its path. */
export const writing = (path: string): object => ({
  of: "store_write",
  request: JSON.stringify({ scope: "memory", path, content: `of ${path}` }),
});

/** Resolves when the threads have used more CPU time than polling does. */
export function burning(): Promise<void> {
  const start = process.cpuUsage();
  return until(() => process.cpuUsage(start).user > 200_000);
}

/** Nothing else runs in this thread meanwhile, and no reply is read. */
export const block = (ms: number): unknown => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

/** Polls the condition. If it never holds, the test times out. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await setTimeout(1);
}

export function writeSpinner(folder: string, deadlineMs: number): string {
  const file = join(folder, "spinner.wasm");
  const text = readFileSync(new URL("test/guests/spinner.wat", projectFolder), "utf8");
  const manifest = { ...guestManifest("spinner", { Spin: "spin" }, ["write"]), deadlineMs };
  writeFileSync(file, assembleGuest(text, [JSON.stringify(manifest)]));
  return file;
}

/** A user whose memory a run has poisoned, beside one who never had that run. */
import { createRuntime, memoryStore } from "memcell";
import type { CallContext, Runtime, RuntimeOptions } from "memcell";
import { expect } from "vitest";

import { temporaryFolder } from "../support/temporary-folder.ts";
import { shippedNames } from "../support/test-plugin.ts";
import { trustingPolicy } from "../support/trusting-policy.ts";

export const alice = { userId: "alice" };
export const poisoned: CallContext = {
  ...alice,
  origin: { class: "untrusted_document", run: "poisoned", source: "https://example.com/" },
};
export const honest: CallContext = { ...alice, origin: { class: "direct_user", run: "honest" } };

/** A call of an agent. */
export interface Write {
  readonly ctx: CallContext;
  readonly input: object;
}

export const upsert = (name: string, body: string, description = `says ${body}`): object => ({
  action: "upsert",
  name,
  type: "user",
  description,
  body,
});

export const remove = (name: string): object => ({ action: "delete", name });

export interface UndoStage extends AsyncDisposable {
  readonly runtime: Runtime;
  readonly dataDir: string;
  /** The time of the next calls. */
  atMs: number;
  write(...writes: readonly Write[]): Promise<void>;
}

export type Engine = "files" | "memory";

export async function openUndoStage(engine: Engine, options: Partial<RuntimeOptions> = {}): Promise<UndoStage> {
  const folder = temporaryFolder();
  const stage = { atMs: Date.UTC(2026, 0, 1) };
  const runtime = await createRuntime({
    ...(engine === "files" ? { dataDir: folder.path, durability: "relaxed" } : { store: memoryStore() }),
    plugins: shippedNames(),
    threadsMax: 1,
    // The poison has got in.
    policy: trustingPolicy({ active: "untrusted_document" }),
    clock: () => stage.atMs,
    ...options,
  });
  return Object.assign(stage, {
    runtime,
    dataDir: folder.path,
    async write(...writes: readonly Write[]): Promise<void> {
      for (const { ctx, input } of writes) {
        expect(await runtime.call("UpdateUserMemory", input, ctx)).toMatchObject({ ok: true });
      }
    },
    async [Symbol.asyncDispose]() {
      await runtime.close();
      folder[Symbol.dispose]();
    },
  });
}

/** All files outside the trash, byte for byte, by scope and path. */
export async function liveFiles({ runtime }: Pick<UndoStage, "runtime">): Promise<Record<string, string>> {
  const { files } = await runtime.upkeep.export(alice);
  const live = files.filter(({ path }) => !path.startsWith("trash/"));
  return Object.fromEntries(
    live.map(({ scope, path, content }) => [`${scope}/${path}`, Buffer.from(content).toString("latin1")]),
  );
}

/**
 * Makes the same honest writes on two stages, at the same times, and those of the run only on the first. Each write has
 * a time of its own.
 */
export async function writeTwins(stage: UndoStage, twin: UndoStage, writes: readonly Write[]): Promise<void> {
  for (const write of writes) {
    stage.atMs += 1_000;
    twin.atMs = stage.atMs;
    await stage.write(write);
    if (write.ctx !== poisoned) await twin.write(write);
  }
}

/** A memory on files or in memory, for the operations of its owner: Alice, whose agents have also read a hostile page. */
import { join } from "node:path";

import { memoryStore } from "memcell";
import type { CallContext, Finding, RuntimeOptions } from "memcell";
import { expect } from "vitest";

import { openStage } from "../stage/runtime.ts";
import { trustingPolicy } from "../support/trusting-policy.ts";
import { userFolder, userFolderNames, writeUserFiles } from "../support/user-files.ts";

export const alice = { userId: "alice" };
export const bob = { userId: "bob" };
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

export const engines = ["files", "memory"] as const;
export type Engine = (typeof engines)[number];

export type UpkeepStage = Awaited<ReturnType<typeof openUpkeep>>;

export async function openUpkeep(engine: Engine = "files", options: Partial<RuntimeOptions> = {}) {
  const clock = { atMs: Date.UTC(2026, 0, 1) };
  const stage = await openStage({
    ...(engine === "files" ? { durability: "relaxed" } : { store: memoryStore() }),
    threadsMax: 1,
    // The poison has got in.
    policy: trustingPolicy({ active: "untrusted_document" }),
    clock: () => clock.atMs,
    ...options,
  });
  return Object.assign(clock, stage, {
    upkeep: stage.runtime.upkeep,
    async write(...writes: readonly Write[]): Promise<void> {
      for (const { ctx, input } of writes) {
        const tool = Object.hasOwn(input, "command") ? "memory" : "UpdateUserMemory";
        expect(await stage.runtime.call(tool, input, ctx)).toMatchObject({ ok: true });
      }
    },
    /** Puts files there as a person does. */
    put: (files: Readonly<Record<string, string>>, userId = "alice") =>
      writeUserFiles(stage.dataDir, { [userId]: files }),
    home: (userId = "alice") => userFolder(stage.dataDir, userId),
    /** Every file of a user's folder. */
    files: (userId = "alice") => stage.files(userId),
    users: () => userFolderNames(stage.dataDir),
    /** A place beside the data folder. */
    place: (name: string) => join(stage.folder, name),
  });
}

/** All files, byte for byte, by scope and path. */
export async function allFiles({ upkeep }: Pick<UpkeepStage, "upkeep">, ctx = alice): Promise<Record<string, string>> {
  const { files } = await upkeep.export(ctx);
  return Object.fromEntries(
    files.map(({ scope, path, content }) => [`${scope}/${path}`, Buffer.from(content).toString("latin1")]),
  );
}

/** Those outside the trash. */
export async function liveFiles(stage: Pick<UpkeepStage, "upkeep">): Promise<Record<string, string>> {
  return Object.fromEntries(Object.entries(await allFiles(stage)).filter(([path]) => !path.includes("/trash/")));
}

/** Each as `path problem`. */
export const inShort = ({ path, problem }: Finding): string => `${path} ${problem}`;

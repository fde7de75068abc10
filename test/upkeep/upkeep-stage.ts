/** A memory on files or in memory, for the operations of its owner: Alice, whose agents have also read a hostile page. */
import { join } from "node:path";

import { createRuntime, memoryStore } from "memcell";
import type { CallContext, Finding, Runtime, RuntimeOptions } from "memcell";
import { expect } from "vitest";

import type { AuditRecord } from "../stage/audit-log.ts";
import { readRecords } from "../stage/runtime.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { shippedNames } from "../support/test-plugin.ts";
import { trustingPolicy } from "../support/trusting-policy.ts";
import { readUserFiles, userFolder, userFolderNames, writeUserFiles } from "../support/user-files.ts";

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

export interface UpkeepStage extends AsyncDisposable {
  readonly runtime: Runtime;
  readonly upkeep: Runtime["upkeep"];
  readonly dataDir: string;
  /** The time of the next calls. */
  atMs: number;
  write(...writes: readonly Write[]): Promise<void>;
  /** Puts files there as a person does. */
  put(files: Readonly<Record<string, string>>, userId?: string): void;
  home(userId?: string): string;
  /** Every file of a user's folder. */
  files(userId?: string): Record<string, string>;
  users(): string[];
  records(): AuditRecord[];
  /** A place beside the data folder. */
  place(name: string): string;
}

export async function openUpkeep(
  engine: Engine = "files",
  options: Partial<RuntimeOptions> = {},
): Promise<UpkeepStage> {
  const folder = temporaryFolder();
  const [dataDir, logFile] = [join(folder.path, "data"), join(folder.path, "log/audit.jsonl")];
  const stage = { atMs: Date.UTC(2026, 0, 1) };
  const runtime = await createRuntime({
    ...(engine === "files" ? { dataDir, durability: "relaxed" } : { store: memoryStore() }),
    plugins: shippedNames(),
    threadsMax: 1,
    // The poison has got in.
    policy: trustingPolicy({ active: "untrusted_document" }),
    clock: () => stage.atMs,
    auditLog: { file: logFile },
    ...options,
  });
  return Object.assign(stage, {
    runtime,
    upkeep: runtime.upkeep,
    dataDir,
    async write(...writes: readonly Write[]): Promise<void> {
      for (const { ctx, input } of writes) {
        const tool = Object.hasOwn(input, "command") ? "memory" : "UpdateUserMemory";
        expect(await runtime.call(tool, input, ctx)).toMatchObject({ ok: true });
      }
    },
    put: (files: Readonly<Record<string, string>>, userId = "alice") => writeUserFiles(dataDir, { [userId]: files }),
    home: (userId = "alice") => userFolder(dataDir, userId),
    files: (userId = "alice") => (userFolderNames(dataDir).includes(userId) ? readUserFiles(dataDir, userId) : {}),
    users: () => userFolderNames(dataDir),
    records: () => readRecords(logFile),
    place: (name: string) => join(folder.path, name),
    async [Symbol.asyncDispose]() {
      await runtime.close();
      folder[Symbol.dispose]();
    },
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

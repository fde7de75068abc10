/** A runtime with an audit log, a scriptable plugin, two plugins that spin, and the shipped tools. */
import { readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";

import { createRuntime } from "memcell";
import type { Runtime, RuntimeOptions } from "memcell";

import { writeSpinner } from "../bounds/bounded-stage.ts";
import { auditRecordSchema } from "../stage/audit-log.ts";
import type { AuditRecord } from "../stage/audit-log.ts";
import { policyFor } from "../support/policy-for.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { shippedPlugin, testPlugin } from "../support/test-plugin.ts";
import { withTrust } from "../support/trusting-policy.ts";
import { readUserFiles, userFolderNames } from "../support/user-files.ts";
import { writeGuest } from "../support/write-guest.ts";

export interface AuditedStage extends AsyncDisposable {
  readonly runtime: Runtime;
  readonly dataDir: string;
  readonly logFile: string;
  /** Every record so far. */
  records(): AuditRecord[];
  /** The records of one kind, optionally of one call id only. */
  recordsOf<Kind extends AuditRecord["kind"]>(kind: Kind, callId?: string): Extract<AuditRecord, { kind: Kind }>[];
  /** Files in a user's scope by path. Empty for a user without a folder. */
  filesOf(userId: string): Record<string, string>;
}

export type StageOptions = Partial<RuntimeOptions> & {
  /** The log's folder. Default: a folder of the stage. */
  readonly logFolder?: string;
  readonly isUnlogged?: boolean;
};

export async function openAuditedStage(stageOptions: StageOptions = {}): Promise<AuditedStage> {
  const { logFolder, isUnlogged = false, ...options } = stageOptions;
  const folder = temporaryFolder();
  const dataDir = join(folder.path, "data");
  const logFile = join(logFolder ?? join(folder.path, "log"), "audit.jsonl");
  const plugins = [testPlugin("puppet"), ...writeSpinners(folder.path), shippedPlugin("user-memory")];
  const runtime = await createRuntime({
    dataDir,
    plugins,
    // What comes from outside is recorded as any other write.
    policy: withTrust(policyFor(plugins), { active: "untrusted_document" }),
    threadsMax: 2,
    clock: () => 1_700_000_000_000,
    ...(!isUnlogged && { auditLog: { file: logFile } }),
    ...options,
  });
  const records = (): AuditRecord[] => readRecords(logFile);
  return {
    runtime,
    dataDir,
    logFile,
    records,
    recordsOf: (kind, callId) => {
      type Found = Extract<AuditRecord, { kind: typeof kind }>;
      const found = records().filter((record): record is Found => record.kind === kind);
      return callId === undefined ? found : found.filter((record) => "callId" in record && record.callId === callId);
    },
    filesOf: (userId) => (userFolderNames(dataDir).includes(userId) ? readUserFiles(dataDir, userId) : {}),
    async [Symbol.asyncDispose]() {
      await runtime.close();
      folder[Symbol.dispose]();
    },
  };
}

/** Assembled once, because assembling takes longer than most tests. */
const spinners = new Map<string, Uint8Array>();

function writeSpinners(folder: string): string[] {
  if (spinners.size === 0) {
    const files = [writeSpinner(folder, 10_000), writeGuest(folder, "lurker", { Lurk: "lurk" }, { Lurk: ["read"] })];
    for (const file of files) spinners.set(basename(file), readFileSync(file));
  }
  return Array.from(spinners, ([name, wasm]) => {
    const file = join(folder, name);
    writeFileSync(file, wasm);
    return file;
  });
}

export function readRecords(logFile: string): AuditRecord[] {
  const lines = readFileSync(logFile, "utf8").trimEnd().split("\n");
  return lines.map((line) => auditRecordSchema.parse(JSON.parse(line)));
}

/** A puppet's step that makes one capability request. */
export const ask = (of: string, request: unknown): object => ({ of, request: JSON.stringify(request) });

export const read = (path: string): object => ask("store_read", { scope: "memory", path });
export const write = (path: string, content: string): object => ask("store_write", { scope: "memory", path, content });

export const upsert = (name: string, body = "b"): object => ({
  action: "upsert",
  name,
  type: "user",
  description: "d",
  body,
});

/** A runtime that keeps a log, with a plugin that does what it is told, one that spins, and the tools of the package. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { createRuntime } from "memcell";
import type { Runtime, RuntimeOptions } from "memcell";

import { auditRecordSchema } from "../../host/audit/audit-record.ts";
import type { AuditRecord } from "../../host/audit/audit-record.ts";
import { writeSpinner } from "../bounds/bounded-stage.ts";
import { policyFor } from "../support/policy-for.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { shippedPlugin, testPlugin } from "../support/test-plugin.ts";
import { readUserFiles, userFolderNames } from "../support/user-files.ts";

export interface AuditedStage extends AsyncDisposable {
  readonly runtime: Runtime;
  readonly dataDir: string;
  readonly logFile: string;
  /** Every record so far. */
  records(): AuditRecord[];
  /** Those of a kind, for one call id if it is named. */
  recordsOf<Kind extends AuditRecord["kind"]>(kind: Kind, callId?: string): Extract<AuditRecord, { kind: Kind }>[];
  /** Files in a user's scope by path; none for a user without a folder. */
  filesOf(userId: string): Record<string, string>;
}

export type StageOptions = Partial<RuntimeOptions> & {
  /** Where the log lies; without, in the stage's own folder. */
  readonly logFolder?: string;
  readonly isUnlogged?: boolean;
};

export async function openAuditedStage(stageOptions: StageOptions = {}): Promise<AuditedStage> {
  const { logFolder, isUnlogged = false, ...options } = stageOptions;
  const folder = temporaryFolder();
  const dataDir = join(folder.path, "data");
  const logFile = join(logFolder ?? join(folder.path, "log"), "audit.jsonl");
  const spinner = writeSpinner(folder.path, 10_000);
  const plugins = [testPlugin("puppet"), spinner, shippedPlugin("user-memory")];
  const runtime = await createRuntime({
    dataDir,
    plugins,
    policy: policyFor(plugins),
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

export function readRecords(logFile: string): AuditRecord[] {
  const lines = readFileSync(logFile, "utf8").trimEnd().split("\n");
  return lines.map((line) => auditRecordSchema.parse(JSON.parse(line)));
}

/** A puppet's step that makes one capability request. */
export const ask = (of: string, request: unknown): object => ({ of, request: JSON.stringify(request) });

export const read = (path: string): object => ask("store_read", { scope: "memory", path });
export const write = (path: string, content: string): object => ask("store_write", { scope: "memory", path, content });

/** A runtime for all tests of a file. Each test has users of its own: ids cost nothing, runtimes do. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { createRuntime } from "memcell";
import type { LogEntry, Runtime, RuntimeOptions } from "memcell";

import { temporaryFolder } from "../support/temporary-folder.ts";
import { shippedNames } from "../support/test-plugin.ts";
import { readUserFiles, userFolderNames } from "../support/user-files.ts";
import { auditRecordSchema } from "./audit-log.ts";
import type { AuditRecord } from "./audit-log.ts";

export interface RuntimeStage extends AsyncDisposable {
  readonly runtime: Runtime;
  /** A fresh folder, which goes with the stage. */
  readonly folder: string;
  readonly dataDir: string;
  readonly logFile: string;
  /** The operator's log. */
  readonly log: readonly LogEntry[];
  /** An id that no other test of the file has. */
  user(name?: string): string;
  /** The audit log so far, or what it has of one user. */
  records(userId?: string): AuditRecord[];
  /** Files in a user's scopes by path. Empty for a user without a folder. */
  files(userId: string): Record<string, string>;
}

/**
 * Files in a fresh folder, all plugins of the package, an audit log and two threads, unless the options say otherwise.
 *
 * @example
 * const stage = await openStage();
 * afterAll(() => stage[Symbol.asyncDispose]());
 * await stage.runtime.call("ReadUserMemory", { name: "editor" }, { userId: stage.user() });
 */
export async function openStage(
  options: Partial<RuntimeOptions> | ((folder: string) => Partial<RuntimeOptions>) = {},
): Promise<RuntimeStage> {
  const folder = temporaryFolder();
  const dataDir = join(folder.path, "data");
  const logFile = join(folder.path, "log", "audit.jsonl");
  const log: LogEntry[] = [];
  const given = typeof options === "function" ? options(folder.path) : options;
  const runtime = await createRuntime({
    ...(given.store === undefined && { dataDir }),
    plugins: shippedNames(),
    threadsMax: 2,
    auditLog: { file: logFile },
    onLog: (entry) => void log.push(entry),
    ...given,
  }).catch((error: unknown) => {
    folder[Symbol.dispose]();
    throw error;
  });
  let users = 0;
  return {
    runtime,
    folder: folder.path,
    dataDir,
    logFile,
    log,
    user: (name = "user") => `${name}-${(users += 1)}`,
    records: (userId) => {
      const all = readRecords(logFile);
      return userId === undefined ? all : all.filter((record) => "userId" in record && record.userId === userId);
    },
    files: (userId) => (userFolderNames(dataDir).includes(userId) ? readUserFiles(dataDir, userId) : {}),
    async [Symbol.asyncDispose]() {
      await runtime.close();
      folder[Symbol.dispose]();
    },
  };
}

/** Every line of an audit log, checked. */
export function readRecords(logFile: string): AuditRecord[] {
  if (!existsSync(logFile)) return [];
  const lines = readFileSync(logFile, "utf8").trimEnd().split("\n");
  return lines.map((line) => auditRecordSchema.parse(JSON.parse(line)));
}

/** Logs in a fresh folder, written by the host, and access to their lines as an attacker has it. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import type { AuditLog, AuditLogOptions } from "../../host/audit/audit-log.ts";
import { openAuditLog } from "../../host/audit/log/file-audit-log.ts";
import type { AuditLogParts } from "../../host/audit/log/file-audit-log.ts";
import type { AuditEntry } from "../stage/audit-log.ts";
import { fileStore } from "../stage/store.ts";
import { longEntry } from "./audit-entries.ts";

export const logName = "audit.jsonl";
export const headName = `${logName}.head`;

export const smallestFile = 64 * 1024;

export interface OpenOptions extends Partial<AuditLogOptions>, Partial<AuditLogParts> {}

export function openLog(folder: string, options: OpenOptions = {}): Promise<AuditLog> {
  const { file = join(folder, logName), fileBytesMax, onFailure, ...parts } = options;
  return openAuditLog(
    { file, ...(fileBytesMax !== undefined && { fileBytesMax }), ...(onFailure && { onFailure }) },
    {
      isAmongUsers: fileStore({ dir: join(folder, "data") }).holdsFile,
      memcell: "0.1.0",
      plugins: [{ name: "user-memory", version: "0.1.0", sha256: "a".repeat(64) }],
      policy: "b".repeat(64),
      waitMs: 0,
      note: () => {},
      ...parts,
    },
  );
}

/** One run of a runtime: opens the log, appends the entries, closes it. */
export async function writeRun(
  folder: string,
  entries: readonly AuditEntry[],
  options: OpenOptions = {},
): Promise<void> {
  const log = await openLog(folder, options);
  for (const entry of entries) log.append(entry);
  log.close();
}

/** The files of a log in the order of their records, without the head file. */
export function logFileNames(folder: string): string[] {
  const names = readdirSync(folder).filter((name) => name.startsWith(logName) && name !== headName);
  return [...names.filter((name) => name !== logName).toSorted(), ...names.filter((name) => name === logName)];
}

/** The lines of one file, without their line feeds. */
export function linesOf(folder: string, name: string = logName): string[] {
  return readFileSync(join(folder, name), "utf8").split("\n").slice(0, -1);
}

export function writeLines(folder: string, name: string, lines: readonly string[]): void {
  writeFileSync(join(folder, name), lines.map((line) => `${line}\n`).join(""));
}

/** Every record of a log, in order. */
export function recordsOf(folder: string): (AuditEntry & { seq: number; prev: string })[] {
  return logFileNames(folder).flatMap((name) =>
    linesOf(folder, name).map((line) => JSON.parse(line) as AuditEntry & { seq: number; prev: string }),
  );
}

export const kindsOf = (folder: string): string[] => recordsOf(folder).map(({ kind }) => kind);

/** Records 0 to 13, three per file except the last: opened, twelve long ones, closed. */
export async function writeSeveralFiles(folder: string): Promise<void> {
  const entries = Array.from({ length: 12 }, (_, at) => longEntry(at + 1));
  await writeRun(folder, entries, { fileBytesMax: smallestFile });
}

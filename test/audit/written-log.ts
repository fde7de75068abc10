/** The files and lines of a log, as an attacker has them, and what `memcell audit verify` finds in them. */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect } from "vitest";

import type { AuditRecord, verifyLog } from "../stage/audit-log.ts";
import { memcell } from "../stage/command.ts";
import { readRecords } from "../stage/runtime.ts";
import { headName, logName } from "./log-writing.ts";

export * from "./log-writing.ts";

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
export const recordsOf = (folder: string): AuditRecord[] =>
  logFileNames(folder).flatMap((name) => readRecords(join(folder, name)));

export const kindsOf = (folder: string): string[] => recordsOf(folder).map(({ kind }) => kind);

export const hashOf = (line: string | Uint8Array): string => createHash("sha256").update(line).digest("hex");

export type Verification = ReturnType<typeof verifyLog>;

/** What `memcell audit verify` says. */
export async function verify(file: string | readonly string[], ...args: string[]): Promise<Verification> {
  const { status, stdout } = await memcell(["audit", "verify", ...[file].flat(), "--json", ...args]);
  const result = JSON.parse(stdout) as Verification;
  expect(status).toBe(result.isIntact ? 0 : 1);
  return result;
}

/** The first broken link, in the words of the report; `[]` if there is none. */
export const told = ({ broken }: Verification): string[] => (broken === null ? [] : [broken.text]);

/** Checks a user's folder after a step in which the disk failed. Returns a list of faults. */
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";

import type { Area } from "../areas.ts";
import { indexFaults, takeStep } from "../memory-steps.ts";
import { DiskRoot, FileStore } from "../store-under-test.ts";
import { describeFiles, filesOf, stagedFiles, withoutCopies } from "../user-state.ts";
import type { Files } from "../user-state.ts";
import type { Injection } from "./injections.ts";

export interface Failure {
  readonly injection: Injection;
  readonly store: InstanceType<typeof FileStore>;
  readonly dataDir: string;
  /** The error of the step, or `null` if it was acknowledged. */
  readonly error: unknown;
  readonly area: Area;
  readonly before: { readonly files: Files; readonly wals: WalInodes };
  /** The files after the step if nothing fails. */
  readonly after: Files;
  /** Whether the step itself changes nothing. */
  readonly isUpkeep: boolean;
}

export async function faultsAfterFailure(failure: Failure): Promise<string[]> {
  const { store, dataDir, error, area, before, after, isUpkeep } = failure;
  const faults = error === null ? [] : faultsOfError(error, dataDir);
  const differences = (when: string, found: Files, wanted: Files): string[] => {
    const has = describeFiles(withoutCopies(found, wanted, [before.files, after]));
    return has === describeFiles(wanted) ? [] : [`${when}: found ${has}, wanted ${describeFiles(wanted)}`];
  };
  if (error !== null && !isUpkeep) faults.push(...differences("after the error", filesOf(dataDir), before.files));
  const kept = error === null || isUpkeep ? after : before.files;
  // The same store continues on a disk that works again.
  const thrown = await takeStep(store, area.look, waitMs).catch((again: unknown) => String(again));
  if (thrown) return [...faults, `the store is of no use afterwards: ${thrown}`];
  faults.push(...differences("in the next call", filesOf(dataDir), kept), ...indexFaults(filesOf(dataDir)));
  const [flushedWal] = /(?<=f(?:data)?sync.*)(?:users|stores)\/[^>]*\/journal(?=>)/.exec(failure.injection.text) ?? [];
  // Recovery and retirement rewrite what they flush again. A commit must stop using the WAL file.
  const isCommit = error !== null && flushedWal !== undefined && !isUpkeep;
  const old = flushedWal === undefined ? undefined : before.wals[flushedWal];
  if (isCommit && old !== undefined && walInodes(dataDir)[flushedWal] === old) {
    faults.push("the WAL whose flush has failed is still in use");
  }
  await takeStep(store, area.next, waitMs);
  faults.push(...stagedFiles(dataDir).map((name) => `${name} was left behind`));
  const wanted = filesOf(dataDir);
  const later = new FileStore(new DiskRoot(dataDir), { durability: "full", note: () => {} }, "a later start");
  await takeStep(later, area.look, waitMs);
  faults.push(...differences("after a restart", filesOf(dataDir), wanted), ...indexFaults(wanted));
  await store.close();
  return faults;
}

/** A lock that was left behind exceeds this wait. The retirement of a long WAL in the background takes far less. */
const waitMs = 5000;

const codes = new Set(["STORAGE_FULL", "STORAGE_FAILED", "STORAGE_BUSY", "STORAGE_UNSAFE"]);

export function faultsOfError(error: unknown, dataDir: string): string[] {
  const { code, message, name } = error as { code?: unknown; message?: unknown; name?: unknown };
  const faults =
    name === "ToolError" && codes.has(String(code)) ? [] : [`the error is ${String(name)} ${String(code)}`];
  const text = String(message);
  return text.includes(dataDir) || /\/proc|users\/|stores\/|\bE[A-Z]{3,}\b/.test(text)
    ? [...faults, `it says ${text}`]
    : faults;
}

/** By the WAL's path below the data folder. */
export type WalInodes = Readonly<Record<string, number>>;

/** Distinguishes WALs from their replacements. */
export function walInodes(dataDir: string): WalInodes {
  const names = existsSync(dataDir) ? readdirSync(dataDir, { recursive: true, encoding: "utf8" }) : [];
  const wals = names.filter((name) => name.endsWith("/.memcell/journal"));
  return Object.fromEntries(wals.map((name) => [name, statSync(join(dataDir, name)).ino]));
}

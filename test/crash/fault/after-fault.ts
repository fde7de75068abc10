/** Checks a folder after a step in which the disk failed. Returns a list of faults. */
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";

import { takeStep } from "../homes/subject.ts";
import type { StorePlace, Subject } from "../homes/subject.ts";
import { boots, filesOn, openPlace, stagedOn } from "../homes/subjects.ts";
import type { Files } from "../homes/tree.ts";
import { unlike } from "../model/expected-memory.ts";

export interface Failure {
  /** The failing call, with its error. */
  readonly text: string;
  /** strace's of the step: calls of several stores come in another order than in a rehearsal. */
  readonly log: string;
  readonly subject: Subject;
  readonly place: StorePlace;
  /** The error of the step, or `null` if it was acknowledged. */
  readonly error: unknown;
  readonly before: { readonly files: Files; readonly wals: WalInodes };
  /** The files after the step if nothing fails. */
  readonly after: Files;
  /** Whether the step itself changes nothing. */
  readonly isUpkeep: boolean;
}

/** The same store continues on a disk that works again, and then one of a later start. */
export async function faultsAfterFailure(failure: Failure): Promise<string[]> {
  const { text, log, subject, place, error, before, after, isUpkeep } = failure;
  const faults = error === null ? [] : faultsOfError(error, text, place.path);
  const compare = (when: string, wanted: Files): void =>
    void faults.push(...unlike([wanted], filesOn(subject, place.path)).map((each) => `${when}: ${each}`));
  if (error !== null && !isUpkeep) compare("after the error", before.files);
  const thrown = await takeStep(subject, place, { do: "look" }, { waitMs }).catch(String);
  if (thrown) return [...faults, `the store is of no use afterwards: ${thrown}`];
  compare("in the next call", error === null || isUpkeep ? after : before.files);
  const [flushedWal] = /(?<=f(?:data)?sync.*)(?:users|stores)\/[^>]*\/journal(?=>.*INJECTED)/.exec(log) ?? [];
  // Recovery and retirement rewrite what they flush again. A commit must stop using the WAL file.
  const isCommit = error !== null && flushedWal !== undefined && !isUpkeep;
  const old = flushedWal === undefined ? undefined : before.wals[flushedWal];
  if (isCommit && old !== undefined && walInodes(place.path)[flushedWal] === old) {
    faults.push("the WAL whose flush has failed is still in use");
  }
  await takeStep(subject, place, subject.callAfterCrash(0, 0), { number: 10, waitMs });
  faults.push(...stagedOn(subject, place.path));
  const wanted = filesOn(subject, place.path);
  await lookLater(subject, place.path);
  compare("after a restart", wanted);
  await place.store.close();
  return faults;
}

export async function lookLater(subject: Subject, path: string): Promise<void> {
  const later = openPlace(path, boots[2]);
  await takeStep(subject, later, { do: "look" }, { waitMs });
  await later.store.close();
}

/** A lock that was left behind exceeds this wait. The retirement of a long WAL in the background takes far less. */
const waitMs = 5000;

const codes = ["STORAGE_FULL", "STORAGE_FAILED", "STORAGE_BUSY", "STORAGE_UNSAFE"];

/** `failing`: the call that has failed, after its error. A process with too few descriptors can try again. */
export function faultsOfError(error: unknown, failing: string, dataDir: string): string[] {
  const { code, message, name } = error as { code?: unknown; message?: unknown; name?: unknown };
  const allowed = failing.startsWith("EMFILE ") ? ["STORAGE_BUSY"] : codes;
  const faults =
    name === "ToolError" && allowed.includes(String(code)) ? [] : [`the error is ${String(name)} ${String(code)}`];
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

/** Does not count the descriptor that reads the list. */
export function openDescriptors(): number {
  return readdirSync("/proc/self/fd").length - 1;
}

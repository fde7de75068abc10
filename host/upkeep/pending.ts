/** Shows the writes that wait for the owner of the memory, and rejects them. `approve.ts` applies one. */
import { isUtf8 } from "node:buffer";

import type { OriginClass } from "../../shared/origin.ts";
import { isDerivedChange } from "../gate/as-shown.ts";
import { scopeOf, textOf } from "../gate/pending-write.ts";
import type { PendingChange, PendingWrite } from "../gate/pending-write.ts";
import { pendingMs } from "../gate/pending-writes.ts";
import { digestOf } from "../store/reading.ts";
import { endOne, waitingOne, waitingWrites } from "./decide.ts";
import type { Operation } from "./operation.ts";
import { unifiedDiff } from "./unified-diff.ts";
import type { ShownFile, ShownWrite, WaitingFile, WaitingWrite } from "./waiting-write.ts";

/** All that wait, the oldest first. */
export async function listWaiting(operation: Operation): Promise<WaitingWrite[]> {
  return await waitingWrites(operation, (write) => waitingWrite(operation, write));
}

/** One of them, beside the present files. */
export async function showWaiting(operation: Operation, id: string): Promise<ShownWrite> {
  return await shownWrite(operation, await waitingOne(operation, id));
}

/** Drops one of them for good. */
export async function rejectWaiting(operation: Operation, id: string): Promise<WaitingWrite> {
  return waitingWrite(operation, await endOne(operation, id, "rejected"));
}

export function waitingWrite(operation: Operation, write: PendingWrite): WaitingWrite {
  const { id, atMs, tool, plugin, trust, run, turn, source, callId, changes } = write;
  const times = { at: new Date(atMs), expires: new Date(atMs + pendingMs) };
  const files = changes.map((change) => waitingFile(operation, change));
  return { id, ...times, tool, plugin, class: write.class, trust, run, turn, source, callId, files };
}

function waitingFile({ tools }: Operation, change: PendingChange): WaitingFile {
  const { path, before } = change;
  const how = change.content === null ? "trash" : before === null ? "create" : "replace";
  const isDerived = isDerivedChange(change, tools.derivedFiles);
  return { scope: scopeOf(change), path, change: how, isDerived, text: textOf(change) };
}

export async function shownWrite(operation: Operation, write: PendingWrite): Promise<ShownWrite> {
  const waiting = waitingWrite(operation, write);
  const files: ShownFile[] = [];
  let isCurrent = true;
  for (const [at, change] of write.changes.entries()) {
    const [file, scope] = [waiting.files[at], scopeOf(change)];
    const { bytes, presentTrust } = await presentFile(operation, scope, change.path);
    if (file !== undefined) files.push({ ...file, presentTrust, ...(await compared(file, bytes)) });
    if (file?.isDerived === false && digestOf(bytes) !== change.before) isCurrent = false;
  }
  return { ...waiting, isCurrent, files };
}

function presentFile(
  operation: Operation,
  scope: string,
  path: string,
): Promise<{ readonly bytes: Buffer | null; readonly presentTrust: OriginClass | null }> {
  return operation.hold({ scopes: [scope], writes: false }, async ({ reader, history }) => {
    const bytes = await reader.bytesOf(scope, path);
    if (bytes === null) return { bytes, presentTrust: null };
    const origin = await history.originOf(scope, path);
    return { bytes: Buffer.from(bytes), presentTrust: origin?.trust ?? history.unknown };
  });
}

/** A file beside what is in its place. No file is like an empty one. */
async function compared({ text }: WaitingFile, bytes: Buffer | null): Promise<Pick<ShownFile, "present" | "lines">> {
  const present = bytes !== null && isUtf8(bytes) ? bytes.toString("utf8") : null;
  const isText = text !== null && (bytes === null || present !== null);
  return { present, lines: isText ? await unifiedDiff(present ?? "", text) : null };
}

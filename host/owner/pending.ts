/** Shows the writes that wait for the owner of the memory, applies one, and rejects one. */
import { isUtf8 } from "node:buffer";

import type { OriginClass } from "../../shared/origin.ts";
import type { Accepts, CallOptions } from "../call/asked-call.ts";
import { pendingIdOf, pendingMs, shownChanges } from "../gate/pending.ts";
import type { PendingChange, PendingWrite } from "../gate/pending.ts";
import { fullName } from "../plugins/tools.ts";
import type { CatalogTool, LoadedTools } from "../plugins/tools.ts";
import { digestOf } from "../store/reading.ts";
import { ToolError } from "../values/tool-error.ts";
import { errorOf } from "../values/tool-result.ts";
import type { ToolResult } from "../values/tool-result.ts";
import { endOne, passOver, scopeOf, waitingOne, waitingWrites } from "./decide.ts";
import type { Operation } from "./operation.ts";
import { unifiedDiff } from "./unified-diff.ts";
import type { ShownFile, ShownWrite, WaitingFile, WaitingWrite, Approval } from "./waiting-write.ts";

/** All that wait, the oldest first. */
export async function listWaiting(operation: Operation): Promise<WaitingWrite[]> {
  return (await waitingWrites(operation)).map((write) => waitingWrite(operation, write));
}

/** One of them, beside the present files. */
export async function showWaiting(operation: Operation, id: string): Promise<ShownWrite> {
  return await shownWrite(operation, await waitingOne(operation, id));
}

/**
 * Applies a write that waits, as it was shown: its call runs again with the same input and at the same time, and counts
 * only if it changes the same bytes of the same files to the same bytes. Otherwise it is shown again, under another id.
 */
export async function approveWaiting(operation: Operation, id: string): Promise<Approval> {
  const write = await waitingOne(operation, id);
  let changesNothing = false;
  const refused = await runAgain(operation, write, (changes) => {
    changesNothing = changes.length === 0;
    return isAsShown(operation, write.changes, changes);
  });
  if (refused !== null) return await showAgain(operation, write);
  // A commit has decided already, and its record can be gone.
  const ended = endOne(operation, id, "approved");
  await (changesNothing ? ended : ended.catch(passOver));
  return { applied: true, write: waitingWrite(operation, write) };
}

/**
 * Whether a change set is what was shown, byte for byte, and is made from the same files. What a plugin makes from its
 * other files, such as an index, can differ: other entries are written meanwhile.
 */
function isAsShown({ tools }: Operation, shown: readonly PendingChange[], now: readonly PendingChange[]): boolean {
  const ofEntries = (changes: readonly PendingChange[]): string =>
    JSON.stringify(changes.filter((change) => !isMade(tools, change)));
  return ofEntries(shown) === ofEntries(now);
}

/** Whether a changed file is made from others by its plugin. */
const isMade = (tools: LoadedTools, change: PendingChange): boolean =>
  tools.isDerivedAt({ scope: scopeOf(change), path: change.path });

/** Runs the call again. Returns `null` if it was committed, else what it would change. */
async function runAgain(
  operation: Operation,
  write: PendingWrite,
  isAccepted: (changes: readonly PendingChange[]) => boolean,
): Promise<readonly PendingChange[] | null> {
  let refused: readonly PendingChange[] | null = null;
  const accepts: Accepts<ToolResult> = async (_answer, changes, reader) => {
    const now = await shownChanges(changes, (scope, path) => reader.bytesOf(scope, path));
    if (isAccepted(now)) return [];
    refused = now;
    throw new ToolError("VERSION_CONFLICT", `Cannot ${operation.action}: the files have changed since it was shown`);
  };
  const options: CallOptions = { accepts, kind: "approved", approved: write };
  const result = await operation.call(toolOf(operation, write), JSON.parse(write.input), options);
  if (!result.ok && refused === null) {
    // It can fail because another approval has applied it meanwhile.
    await waitingOne(operation, write.id);
    throw errorOf(result);
  }
  return refused;
}

function toolOf({ tools, action }: Operation, { plugin, tool }: PendingWrite): CatalogTool {
  const name = `${plugin}/${tool}`;
  const found = tools.all.find((each) => fullName(each) === name);
  if (found !== undefined) return found;
  const hint = tools.notLoaded.hintForPlugin(plugin);
  throw new ToolError("TOOL_UNKNOWN", `Cannot ${action}: no loaded plugin has the tool ${name}`, { hint });
}

/** It waits again, as it would be now. */
async function showAgain(operation: Operation, write: PendingWrite): Promise<Approval> {
  const atMs = operation.now();
  const now = { ...write, atMs, epochMs: atMs };
  const { id: _, ...facts } = { ...now, changes: [...((await runAgain(operation, now, () => false)) ?? [])] };
  await endOne(operation, write.id, "replaced", facts);
  return { applied: false, write: await shownWrite(operation, { id: pendingIdOf(facts), ...facts }) };
}

/** Drops one of them for good. */
export async function rejectWaiting(operation: Operation, id: string): Promise<WaitingWrite> {
  return waitingWrite(operation, await endOne(operation, id, "rejected"));
}

function waitingWrite(operation: Operation, write: PendingWrite): WaitingWrite {
  const { id, atMs, tool, plugin, trust, run, turn, source, callId, changes } = write;
  const times = { at: new Date(atMs), expires: new Date(atMs + pendingMs) };
  const files = changes.map((change) => waitingFile(operation, change));
  return { id, ...times, tool, plugin, class: write.class, trust, run, turn, source, callId, files };
}

function waitingFile({ tools }: Operation, change: PendingChange): WaitingFile {
  const { path, before } = change;
  const how = change.content === null ? "trash" : before === null ? "create" : "replace";
  // Only what is UTF-8 can be shown.
  const text = change.content !== null && "text" in change.content ? change.content.text.toWellFormed() : null;
  return { scope: scopeOf(change), path, change: how, isDerived: isMade(tools, change), text };
}

async function shownWrite(operation: Operation, write: PendingWrite): Promise<ShownWrite> {
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
  return operation.hold({ scopes: [scope], mode: "read" }, async (held) => {
    const { history } = held;
    const bytes = await held.bytesOf(scope, path);
    if (bytes === null) return { bytes, presentTrust: null };
    const origin = await history.originOf(scope, path);
    return { bytes: Buffer.from(bytes), presentTrust: origin?.trust ?? history.state().unknown };
  });
}

/** A file beside what is in its place. No file is like an empty one. */
async function compared({ text }: WaitingFile, bytes: Buffer | null): Promise<Pick<ShownFile, "present" | "lines">> {
  const present = bytes !== null && isUtf8(bytes) ? bytes.toString("utf8") : null;
  const isText = text !== null && (bytes === null || present !== null);
  return { present, lines: isText ? await unifiedDiff(present ?? "", text) : null };
}

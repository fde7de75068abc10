/**
 * Applies a write that waits, as it was shown: its call runs again with the same input and at the same time, and counts
 * only if it changes the same bytes of the same files to the same bytes. Otherwise it is shown again, under another id.
 */
import type { Accepts, CallOptions } from "../call/asked-call.ts";
import { ApprovedWrite } from "../gate/approval.ts";
import { isAsShown } from "../gate/as-shown.ts";
import { shownChanges } from "../gate/gate.ts";
import type { PendingChange, PendingWrite } from "../gate/pending-write.ts";
import { addPending } from "../gate/pending-writes.ts";
import { fullName } from "../plugins/loaded-tools.ts";
import type { CatalogTool } from "../plugins/loaded-tools.ts";
import { ToolError } from "../values/tool-error.ts";
import { errorOf } from "../values/tool-result.ts";
import type { ToolResult } from "../values/tool-result.ts";
import { endOne, waitingOne } from "./decide.ts";
import type { Operation } from "./operation.ts";
import { shownWrite, waitingWrite } from "./pending.ts";
import type { Approval } from "./waiting-write.ts";

export async function approveWaiting(operation: Operation, id: string): Promise<Approval> {
  const write = await waitingOne(operation, id);
  const changed = await apply(operation, write);
  if (changed !== null) return await showAgain(operation, id, changed);
  return { applied: true, write: waitingWrite(operation, write) };
}

/** Returns `null` if it was applied as it was shown, else what it would change now. Throws the tool's failure. */
async function apply(operation: Operation, write: PendingWrite): Promise<PendingWrite | null> {
  const isShown = (changes: readonly PendingChange[]): boolean =>
    isAsShown(write.changes, changes, operation.tools.derivedFiles);
  const decision = new ApprovedWrite({ id: write.id, action: operation.action, clock: () => operation.now() });
  if ((await runAgain(operation, write, isShown, decision)) === null) {
    // It changes nothing, so there was no commit.
    if (!decision.hasBegun) await endOne(operation, write.id, "approved");
    return null;
  }
  const nowMs = operation.now();
  const now = { ...write, atMs: nowMs, epochMs: nowMs };
  const changes = (await runAgain(operation, now, () => false)) ?? [];
  return { ...now, changes: [...changes] };
}

/** Runs the call again. Returns `null` if it was committed, else what it would change. */
async function runAgain(
  operation: Operation,
  write: PendingWrite,
  isAccepted: (changes: readonly PendingChange[]) => boolean,
  decision?: ApprovedWrite,
): Promise<readonly PendingChange[] | null> {
  let refused: readonly PendingChange[] | null = null;
  const accepts: Accepts<ToolResult> = async (_answer, changes, reader) => {
    const now = await shownChanges(changes, (scope, path) => reader.bytesOf(scope, path));
    if (isAccepted(now)) return [];
    refused = now;
    throw new ToolError("VERSION_CONFLICT", `Cannot ${operation.action}: the files have changed since it was shown`);
  };
  const options: CallOptions = { accepts, kind: "approved", approved: write, decision };
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

async function showAgain(operation: Operation, replaces: string, changed: PendingWrite): Promise<Approval> {
  const { id: _, ...facts } = changed;
  const again = await operation.holdRecords({ writes: true }, (records) =>
    addPending(records, facts, { action: operation.action, replaces }),
  );
  return { applied: false, write: await shownWrite(operation, again) };
}

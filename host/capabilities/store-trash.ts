import type { CapabilityReply, CapabilityRequest } from "../../shared/abi.ts";
import { trashFolder } from "../../shared/path.ts";
import { checkChangeCount, checkPlace, denied, refuseTrash } from "./guest-call.ts";
import type { GuestCall } from "./guest-call.ts";
import type { StagedFile } from "./staged-changes.ts";

/** Stages a move into `trash/`, to a name that nothing has. */
export function storeTrash(
  call: GuestCall,
  { scope, path }: CapabilityRequest<"store_trash">,
): CapabilityReply<"store_trash"> {
  checkPlace(call, scope, path);
  refuseTrash(path);
  checkChangeCount(call, path);
  const file = fileToMove(call, scope, path);
  if (file === null) throw denied(`Cannot trash "${path}": no such file`);
  const trashed = freeTrashPath(call, scope, path);
  call.staged.trash(scope, path, trashed, file);
  return { ok: true, trashed };
}

/** A stored file is not read for this: its text need not even be text. */
function fileToMove(call: GuestCall, scope: string, path: string): StagedFile | null {
  const staged = call.staged.fileAt(scope, path);
  if (staged !== undefined) return staged.kind === "gone" ? null : staged;
  const bytes = call.store.sizeOf(scope, path);
  return bytes === null ? null : { kind: "moved", from: path, bytes };
}

/** `trash/<name>.<UTC stamp><ending>`, with a number before the ending while that is taken. */
function freeTrashPath(call: GuestCall, scope: string, path: string): string {
  const stamp = new Date(call.epochMs).toISOString().replaceAll(/[-:.]/g, "");
  const slash = path.lastIndexOf("/");
  const dot = path.lastIndexOf(".");
  const hasEnding = dot > slash + 1;
  const base = hasEnding ? path.slice(0, dot) : path;
  const ending = hasEnding ? path.slice(dot) : "";
  for (let count = 1; ; count++) {
    const candidate = `${trashFolder}/${base}.${stamp}${count === 1 ? "" : `-${count}`}${ending}`;
    const isTaken = call.staged.fileAt(scope, candidate) !== undefined || call.store.sizeOf(scope, candidate) !== null;
    if (!isTaken) return candidate;
  }
}

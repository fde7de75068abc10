import type { CapabilityReply, CapabilityRequest } from "../../../shared/abi.ts";
import { quoted } from "../../../shared/text.ts";
import { freeTrashPath } from "../../values/trash-path.ts";
import { checkChangeCount, checkPath, checkPlace, denied, refuseTrash } from "./guest-call.ts";
import type { GuestCall } from "./guest-call.ts";
import { stagedBytes } from "./staged-changes.ts";
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
  if (file === null) throw denied(`Cannot trash ${quoted(path)}: no such file`);
  const trashed = freePath(call, scope, path);
  checkPath(trashed);
  call.staged.trash(scope, path, trashed, file);
  call.trail.trash(scope, path, { trashed, bytes: stagedBytes(file) });
  return { ok: true, trashed };
}

/** A stored file is not read for this: its text need not even be text. */
function fileToMove(call: GuestCall, scope: string, path: string): StagedFile | null {
  const staged = call.staged.fileAt(scope, path);
  if (staged !== undefined) return staged.kind === "gone" ? null : staged;
  const bytes = call.store.sizeOf(scope, path);
  return bytes === null ? null : { kind: "moved", from: path, bytes };
}

function freePath(call: GuestCall, scope: string, path: string): string {
  return freeTrashPath(
    path,
    call.epochMs,
    (each) => call.staged.fileAt(scope, each) !== undefined || call.store.sizeOf(scope, each) !== null,
  );
}

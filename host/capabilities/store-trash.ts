import type { CapabilityReply, CapabilityRequest } from "../../shared/abi.ts";
import { trashFolder } from "../../shared/path.ts";
import { checkPlace, denied, refuseTrash } from "./guest-call.ts";
import type { GuestCall } from "./guest-call.ts";

/** Stages a move into `trash/`, to a name that nothing has. */
export function storeTrash(
  call: GuestCall,
  { scope, path }: CapabilityRequest<"store_trash">,
): CapabilityReply<"store_trash"> {
  checkPlace(call, scope, path);
  refuseTrash(path);
  const content = contentAt(call, scope, path);
  if (content === null) throw denied(`Cannot trash "${path}": no such file`);
  const trashed = freeTrashPath(call, scope, path);
  call.staged.trash(scope, path, trashed, content);
  return { ok: true, trashed };
}

/** The staged text, or an empty one for a file that is only moved: nobody needs to decode it for that. */
function contentAt(call: GuestCall, scope: string, path: string): string | null {
  const staged = call.staged.contentOf(scope, path);
  if (staged !== undefined) return staged;
  return call.store.exists(scope, path) ? "" : null;
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
    const isTaken = call.staged.contentOf(scope, candidate) !== undefined || call.store.exists(scope, candidate);
    if (!isTaken) return candidate;
  }
}

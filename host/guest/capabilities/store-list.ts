import type { CapabilityReply, CapabilityRequest, ListedFile } from "../../../shared/abi.ts";
import { isListed, isScopePrefix } from "../../../shared/path.ts";
import { quoted } from "../../../shared/text.ts";
import { checkScope, denied } from "./guest-call.ts";
import type { GuestCall } from "./guest-call.ts";
import { stagedBytes } from "./staged-changes.ts";

/** Files whose path begins with the prefix, sorted; those below `trash/` only when the prefix names it. */
export function storeList(
  call: GuestCall,
  { scope, prefix = "" }: CapabilityRequest<"store_list">,
): CapabilityReply<"store_list"> {
  checkScope(call, scope);
  if (!isScopePrefix(prefix)) throw denied(`Cannot list ${quoted(prefix)}: it is not the beginning of a path`);
  const entries = currentEntries(call, scope, prefix);
  call.trail.list(scope, prefix, entries.length);
  return { ok: true, entries };
}

function currentEntries(call: GuestCall, scope: string, prefix: string): ListedFile[] {
  const stored = call.store.list(scope, prefix);
  const touched = call.staged.touched(scope).filter(({ path }) => isListed(path, prefix));
  if (touched.length === 0) return stored;
  const bytesByPath = new Map(stored.map(({ path, bytes }) => [path, bytes]));
  for (const { path, file } of touched) {
    if (file.kind === "gone") bytesByPath.delete(path);
    else bytesByPath.set(path, stagedBytes(file));
  }
  const entries = Array.from(bytesByPath, ([path, bytes]) => ({ path, bytes }));
  return entries.toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

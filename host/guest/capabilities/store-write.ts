import type { CapabilityReply, CapabilityRequest } from "../../../shared/abi.ts";
import { storeLimits } from "../../../shared/limits.ts";
import { quoted } from "../../../shared/text.ts";
import { ToolError } from "../../values/tool-error.ts";
import { checkChangeCount, checkPlace, denied, refuseTrash } from "./guest-call.ts";
import type { GuestCall } from "./guest-call.ts";
import { stagedBytes } from "./staged-changes.ts";

/** Stages a whole file, within the limits of a file and of the user's scope. */
export function storeWrite(
  call: GuestCall,
  { scope, path, content }: CapabilityRequest<"store_write">,
): CapabilityReply<"store_write"> {
  checkPlace(call, scope, path);
  refuseTrash(path);
  refuseNesting(call, scope, path);
  checkChangeCount(call, path);
  const bytes = Buffer.byteLength(content);
  checkSize(call, scope, path, bytes);
  checkStagedBytes(call, scope, path, bytes);
  call.staged.write(scope, path, content, bytes);
  call.trail.write(scope, path, bytes);
  return { ok: true };
}

/** No file may be another one's folder. What is stored already is looked at when its size is asked for. */
function refuseNesting(call: GuestCall, scope: string, path: string): void {
  const other = call.staged
    .touched(scope)
    .find(
      ({ path: each, file }) => file.kind !== "gone" && (each.startsWith(`${path}/`) || path.startsWith(`${each}/`)),
    );
  if (other) throw denied(`Cannot write ${quoted(path)}: this call has made ${quoted(other.path)}`);
}

function checkSize(call: GuestCall, scope: string, path: string, bytes: number): void {
  const { fileBytesMax, scopeBytesMax } = storeLimits;
  // Asked first: a link in the file's place ends the call before anything is committed.
  const replacedBytes = sizeNow(call, scope, path);
  if (bytes > fileBytesMax) {
    throw new ToolError(
      "QUOTA_EXCEEDED",
      `Cannot write ${quoted(path)}: it is ${bytes} bytes, at most ${fileBytesMax} allowed`,
    );
  }
  const growthBytes = growth(call, scope) - replacedBytes + bytes;
  // A full scope can still shrink, and what does not grow need not be measured: that looks at every file.
  if (growthBytes <= 0) return;
  const used = call.store.bytesUsed(scope) + growthBytes;
  if (used > scopeBytesMax) {
    throw new ToolError(
      "QUOTA_EXCEEDED",
      `Cannot write ${quoted(path)}: the user's "${scope}" would hold ${used} bytes with its trash, at most ${scopeBytesMax} allowed`,
    );
  }
}

/** What is moved to the trash after it was written is held as well, so it counts here and not in the scope alone. */
function checkStagedBytes({ staged, grant }: GuestCall, scope: string, path: string, bytes: number): void {
  const stagedBytesNow = staged.writtenBytesWith(scope, path, bytes);
  const { stagedBytes: stagedBytesMax } = grant.limits;
  if (stagedBytesNow <= stagedBytesMax) return;
  throw new ToolError(
    "QUOTA_EXCEEDED",
    `Cannot write ${quoted(path)}: this call would write ${stagedBytesNow} bytes, at most ${stagedBytesMax} allowed`,
  );
}

/** By how much the call's changes so far make a scope larger. */
function growth(call: GuestCall, scope: string): number {
  const differences = call.staged
    .touched(scope)
    .map(({ path, file }) => stagedBytes(file) - (call.store.sizeOf(scope, path) ?? 0));
  return differences.reduce((sum, each) => sum + each, 0);
}

/** The bytes of a file as the call sees it. */
function sizeNow(call: GuestCall, scope: string, path: string): number {
  const file = call.staged.fileAt(scope, path);
  const storedBytes = call.store.sizeOf(scope, path) ?? 0;
  return file === undefined ? storedBytes : stagedBytes(file);
}

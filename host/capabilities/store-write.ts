import type { CapabilityReply, CapabilityRequest } from "../../shared/abi.ts";
import { storeLimits } from "../../shared/limits.ts";
import { hasLoneSurrogate, utf8Bytes } from "../../shared/text.ts";
import { ToolError } from "../tool-error.ts";
import { checkPlace, denied, refuseTrash } from "./guest-call.ts";
import type { GuestCall } from "./guest-call.ts";

/** Stages a whole file, within the limits of a file and of the user's scope. */
export function storeWrite(
  call: GuestCall,
  { scope, path, content }: CapabilityRequest<"store_write">,
): CapabilityReply<"store_write"> {
  checkPlace(call, scope, path);
  refuseTrash(path);
  if (hasLoneSurrogate(content)) throw denied(`Cannot write "${path}": its text holds a lone surrogate`);
  // Looks at the place now, so that a link in it ends the call before anything is committed.
  call.store.sizeOf(scope, path);
  checkSize(call, scope, path, utf8Bytes(content));
  call.staged.write(scope, path, content);
  return { ok: true };
}

function checkSize(call: GuestCall, scope: string, path: string, bytes: number): void {
  const { fileBytesMax, scopeBytesMax } = storeLimits;
  if (bytes > fileBytesMax) {
    throw new ToolError(
      "QUOTA_EXCEEDED",
      `Cannot write "${path}": it is ${bytes} bytes, at most ${fileBytesMax} allowed`,
    );
  }
  const written = call.staged.touched(scope).map(({ file }) => (file.kind === "written" ? utf8Bytes(file.content) : 0));
  const staged = written.reduce((sum, each) => sum + each, 0);
  const used = call.store.bytesUsed(scope) + staged + bytes;
  if (used > scopeBytesMax) {
    throw new ToolError(
      "QUOTA_EXCEEDED",
      `Cannot write "${path}": the user's "${scope}" would hold ${used} bytes with its trash, at most ${scopeBytesMax} allowed`,
    );
  }
}

import type { CapabilityReply, CapabilityRequest } from "../../../shared/abi.ts";
import { decodeText } from "../../store/scope-path.ts";
import { checkPlace } from "./guest-call.ts";
import type { GuestCall } from "./guest-call.ts";

/** A file's text, staged or stored; `null` when there is none. */
export function storeRead(
  call: GuestCall,
  { scope, path }: CapabilityRequest<"store_read">,
): CapabilityReply<"store_read"> {
  checkPlace(call, scope, path);
  const content = currentText(call, scope, path);
  call.trail.read(scope, path, content === null ? null : Buffer.byteLength(content));
  return { ok: true, content };
}

function currentText({ staged, store }: GuestCall, scope: string, path: string): string | null {
  const file = staged.fileAt(scope, path);
  switch (file?.kind) {
    case undefined:
      return store.read(scope, path);
    case "written":
      return typeof file.content === "string" ? file.content : decodeText(file.content, path);
    case "moved":
      return store.read(scope, file.from);
    case "gone":
      return null;
  }
}

import type { CapabilityReply, CapabilityRequest } from "../../shared/abi.ts";
import { checkPlace } from "./guest-call.ts";
import type { GuestCall } from "./guest-call.ts";

/** A file's text, staged or stored; `null` when there is none. */
export function storeRead(
  call: GuestCall,
  { scope, path }: CapabilityRequest<"store_read">,
): CapabilityReply<"store_read"> {
  checkPlace(call, scope, path);
  const staged = call.staged.contentOf(scope, path);
  return { ok: true, content: staged === undefined ? call.store.read(scope, path) : staged };
}

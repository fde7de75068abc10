/**
 * The way out of the sandbox: one function for each capability of the ABI, the only file that calls the host.
 *
 * Each throws a `ToolError` with the host's code when the host refuses, and then the whole call is refused: the host
 * drops its change set whatever the tool does next.
 */
import type {
  CapabilityName,
  CapabilityRefusal,
  CapabilityReply,
  CapabilityRequest,
  ListedFile,
} from "../shared/abi.ts";
import { ToolError } from "./tool-error.ts";

/** One scope of the user's folder. */
export class Scope {
  readonly #name: string;

  constructor(name: string) {
    this.#name = name;
  }

  /** A file's text, or `null` when there is none. Sees what this call has written. */
  read(path: string): string | null {
    return callHost("store_read", { scope: this.#name, path }).content;
  }

  /** Files outside `trash/`, sorted by path; or, with a prefix, those whose path begins with it. */
  list(prefix?: string): ListedFile[] {
    return callHost("store_list", { scope: this.#name, ...(prefix !== undefined && { prefix }) }).entries;
  }

  /** Stages a whole file. It reaches the disk only if the call succeeds. */
  write(path: string, content: string): void {
    callHost("store_write", { scope: this.#name, path, content });
  }

  /** Stages a move into `trash/` and returns the path there. */
  trash(path: string): string {
    return callHost("store_trash", { scope: this.#name, path }).trashed;
  }
}

/** The time, as UTC in ISO 8601. It stands still during a call. */
export function now(): string {
  return new Date(callHost("clock_now", {}).epochMs).toISOString();
}

function callHost<Name extends CapabilityName>(name: Name, request: CapabilityRequest<Name>): CapabilityReply<Name> {
  const capability = Host.getFunctions()[name];
  if (!capability) throw new ToolError("CAPABILITY_DENIED", `Cannot call ${name}: this plugin does not import it`);
  const requestBlock = Memory.fromString(JSON.stringify(request));
  const replyBlock = Memory.find(capability(requestBlock.offset));
  const text = replyBlock.readString();
  requestBlock.free();
  replyBlock.free();
  if (text === "") throw new ToolError("CAPABILITY_DENIED", `Cannot call ${name}: the host gave no reply`);
  const reply = JSON.parse(text) as CapabilityReply<Name> | CapabilityRefusal;
  if (!reply.ok) throw new ToolError(reply.error.code, reply.error.message);
  return reply;
}

/**
 * The way out of the sandbox: one function for each capability of the ABI. No other file calls the host.
 *
 * Each throws a `ToolError` with the host's code when the host refuses a request. After `CAPABILITY_DENIED` the whole
 * call fails: the host drops its change set even if the tool catches the error.
 */
import type {
  CapabilityName,
  CapabilityRefusal,
  CapabilityReply,
  CapabilityRequest,
  ListedFile,
} from "../shared/abi.ts";
import { LastRead } from "./last-read.ts";
import { ToolError } from "./tool-error.ts";

const lastRead = new LastRead();

/** One scope of the user's folder. */
export class Scope {
  readonly #name: string;

  constructor(name: string) {
    this.#name = name;
  }

  /** Returns a file's text, including what this call has written, or `null` if there is no file. */
  read(path: string): string | null {
    const json = ask("store_read", JSON.stringify({ scope: this.#name, path }));
    const reply = parseReply<"store_read">(json);
    lastRead.keep(reply, json);
    return reply.content;
  }

  /** Lists files sorted by path: those whose path begins with the prefix; without a prefix, all outside `trash/`. */
  list(prefix?: string): ListedFile[] {
    return callHost("store_list", { scope: this.#name, ...(prefix !== undefined && { prefix }) }).entries;
  }

  /** Stages a whole file. It reaches the disk only if the call succeeds. */
  write(path: string, content: string): void {
    const place = JSON.stringify({ scope: this.#name, path });
    parseReply(ask("store_write", `${place.slice(0, -1)},"content":${lastRead.jsonOf(content)}}`));
  }

  /** Stages a move into `trash/` and returns the path there. */
  trash(path: string): string {
    return callHost("store_trash", { scope: this.#name, path }).trashed;
  }
}

/** The time in UTC, ISO 8601. It is the same throughout a call. */
export function now(): string {
  return new Date(callHost("clock_now", {}).epochMs).toISOString();
}

function callHost<Name extends CapabilityName>(name: Name, request: CapabilityRequest<Name>): CapabilityReply<Name> {
  return parseReply<Name>(ask(name, JSON.stringify(request)));
}

function ask(name: CapabilityName, request: string): string {
  const capability = Host.getFunctions()[name];
  if (!capability) throw new ToolError("CAPABILITY_DENIED", `Cannot call ${name}: this plugin does not import it`);
  const requestBlock = Memory.fromString(request);
  const replyBlock = Memory.find(capability(requestBlock.offset));
  const text = replyBlock.readString();
  requestBlock.free();
  replyBlock.free();
  if (text === "") throw new ToolError("CAPABILITY_DENIED", `Cannot call ${name}: the host gave no reply`);
  return text;
}

function parseReply<Name extends CapabilityName>(text: string): CapabilityReply<Name> {
  const reply = JSON.parse(text) as CapabilityReply<Name> | CapabilityRefusal;
  if (!reply.ok) throw new ToolError(reply.error.code, reply.error.message);
  return reply;
}

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
  ReachedStore,
} from "../../shared/abi.ts";
import { placeIn } from "../../shared/abi.ts";
import { ownStoreScope } from "../../shared/shared-scope.ts";
import type { AccessLevel } from "../../shared/shared-scope.ts";
import { ToolError } from "./tool-error.ts";

/** One scope of the user's folder, or a shared store. */
export class Scope {
  readonly #name: string;

  constructor(name: string) {
    this.#name = name;
  }

  /** Returns a file's text, including what this call has written, or `null` if there is no file. */
  read(path: string): string | null {
    const request = Memory.fromString(JSON.stringify({ scope: this.#name, path }));
    return withReply("store_read", request, (reply) => {
      const content = (reply as MemoryHandle & ContentReader).readContent?.();
      return content ?? parseReply<"store_read">(textOf(reply, "store_read")).content;
    });
  }

  /**
   * The words of a file that begin with one of the beginnings, each of which is lower-case ASCII with a space behind it.
   * The words are in lower case, each with a space behind it, and a line end stands where the first line `---` ends.
   * `null` if there are none, or if the host does not open the file.
   *
   * A search reads many files, and most have nothing that it looks for. To make a text of each would take twice as long.
   * Returns `undefined` if the engine cannot tell: it knows ASCII, and a few other characters.
   */
  wordsOf(path: string, beginnings: string): string | null | undefined {
    const request = Memory.fromString(JSON.stringify({ scope: this.#name, path }));
    return withReply("store_read", request, (reply) => {
      const words = (reply as MemoryHandle & WordFinder).wordsBeginning?.(beginnings);
      return words === undefined ? undefined : wordsOfFile(words, beginnings);
    });
  }

  /** Lists files sorted by path: those whose path begins with the prefix; without a prefix, all outside `trash/`. */
  list(prefix?: string): ListedFile[] {
    return callHost("store_list", { scope: this.#name, ...(prefix !== undefined && { prefix }) }).entries;
  }

  /** As `list` without a prefix. `leftOut`: how much is there that the host lists to no guest, as far as it tells. */
  listAll(): { readonly entries: ListedFile[]; readonly leftOut: number } {
    const { entries, leftOut = 0 } = callHost("store_list", { scope: this.#name });
    return { entries, leftOut };
  }

  /** What an answer's `shows` calls a file. */
  place(path: string): string {
    return placeIn(this.#name, path);
  }

  /** Stages a whole file. It reaches the disk only if the call succeeds. */
  write(path: string, content: string): void {
    parseReply(ask("store_write", writeRequest(JSON.stringify({ scope: this.#name, path }), content)));
  }

  /** Stages a move into `trash/` and returns the path there. */
  trash(path: string): string {
    return callHost("store_trash", { scope: this.#name, path }).trashed;
  }
}

/** What the reply has before the text, by what the words begin with: the same for each file of a search. */
let frame = { beginnings: "", words: "" };

/**
 * The words of a file, from those that the engine finds in the host's reply; `null` if there are none. `undefined` if the
 * reply is not of the form that this knows: a host can send another form of the same JSON.
 */
function wordsOfFile(words: string, beginnings: string): string | null | undefined {
  if (beginnings !== frame.beginnings) {
    const all = beginnings.split(" ").slice(0, -1);
    const around = ["ok ", "true ", "content "].filter((word) => all.some((each) => word.startsWith(each)));
    frame = { beginnings, words: around.join("") };
  }
  if (!words.startsWith(frame.words)) return undefined;
  const ofText = words.slice(frame.words.length);
  return ofText === "" || ofText === "\n" ? null : ofText;
}

/** What memcell's engine adds to a block of the PDK. */
interface WordFinder {
  wordsBeginning?(beginnings: string): string | undefined;
}

/** The same: the text of a reply to `store_read`, without a text of the JSON around it. */
interface ContentReader {
  readContent?(): string | undefined;
}

/** What it adds to the PDK's memory: a block of JSON that ends with one long text. */
interface ContentWriter {
  fromQuoted?(head: string, text: string): MemoryHandle | undefined;
}

/** A text with a lone surrogate, or with rare control characters, needs the escapes of `JSON.stringify`. */
function writeRequest(place: string, content: string): MemoryHandle {
  const head = `${place.slice(0, -1)},"content":`;
  const quoted = (Memory as typeof Memory & ContentWriter).fromQuoted?.(`${head}"`, content);
  return quoted ?? Memory.fromString(`${head}${JSON.stringify(content)}}`);
}

/** A store that the caller reaches, or `level: null`; of the caller's own store also its grants. */
export interface StoreAccess extends ReachedStore {
  readonly grants: NonNullable<CapabilityReply<"grant_list">["grants"]>;
}

/** Asks about one store, by the scope that names it. A store that does not exist is as one that is not reached. */
export function accessTo(scope: string): StoreAccess {
  const { stores, grants = [] } = callHost("grant_list", { scope });
  const [store] = stores;
  if (store === undefined) throw new ToolError("CAPABILITY_DENIED", "Cannot call grant_list: the reply names no store");
  return { ...store, grants };
}

/** Every store that the caller reaches, its own first. */
export function reachedStores(): ReachedStore[] {
  return callHost("grant_list", {}).stores;
}

/** Stages a grant of the caller's own store; `level: null` revokes it. Returns the level before. */
export function setGrant(grant: Omit<CapabilityRequest<"grant_set">, "scope">): AccessLevel | null {
  return callHost("grant_set", { scope: ownStoreScope, ...grant }).before;
}

/** The time in UTC, ISO 8601. It is the same throughout a call. */
export function now(): string {
  return new Date(callHost("clock_now", {}).epochMs).toISOString();
}

function callHost<Name extends CapabilityName>(name: Name, request: CapabilityRequest<Name>): CapabilityReply<Name> {
  return parseReply<Name>(ask(name, Memory.fromString(JSON.stringify(request))));
}

function ask(name: CapabilityName, request: MemoryHandle): string {
  return withReply(name, request, (reply) => textOf(reply, name));
}

function textOf(reply: MemoryHandle, name: CapabilityName): string {
  const text = reply.readString();
  if (text === "") throw new ToolError("CAPABILITY_DENIED", `Cannot call ${name}: the host gave no reply`);
  return text;
}

function withReply<Result>(name: CapabilityName, request: MemoryHandle, use: (reply: MemoryHandle) => Result): Result {
  const capability = (Host.getFunctions() as Partial<Record<CapabilityName, (request: PTR) => PTR>>)[name];
  if (!capability) throw new ToolError("CAPABILITY_DENIED", `Cannot call ${name}: this plugin does not import it`);
  const reply = Memory.find(capability(request.offset));
  const result = use(reply);
  request.free();
  reply.free();
  return result;
}

function parseReply<Name extends CapabilityName>(text: string): CapabilityReply<Name> {
  const reply = JSON.parse(text) as CapabilityReply<Name> | CapabilityRefusal;
  if (!reply.ok) throw refusalOf(reply);
  return reply;
}

/** A file that is not UTF-8 text. It is never written as it can be read: that would lose bytes. */
export class NoUtf8 extends ToolError {
  /** What can be read of it, with U+FFFD in place of other bytes; `null` if the host does not tell. */
  readonly readable: string | null;

  constructor(message: string, readable: string | null) {
    super("ENTRY_UNREADABLE", message);
    this.readable = readable;
  }
}

function refusalOf({ error: { code, message }, readable }: CapabilityRefusal): ToolError {
  return code === "ENTRY_UNREADABLE" ? new NoUtf8(message, readable ?? null) : new ToolError(code, message);
}

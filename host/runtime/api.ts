/** What the runtime offers, as types: the surface that `index.ts` exports. */
import type { AuditLogOptions } from "../audit/audit-log.ts";
import type { LogEntry } from "../log/log-entry.ts";
import type { ToolDescription } from "../plugins/describe-tool.ts";
import type { PolicyFile } from "../plugins/policy/policy-schema.ts";
import type { StoreDefinition } from "../store/store.ts";
import type { Upkeep } from "../upkeep/upkeep.ts";
import type { CallContext } from "../values/call-context.ts";
import type { MemoryChange } from "../values/memory-change.ts";
import type { Mount } from "../values/mount.ts";
import type { Refusal } from "../values/refusal.ts";
import type { ToolResult } from "../values/tool-result.ts";
import type { EntryName, EntryText, FamilyChoice, MemoryEntry, MemoryFamily } from "./memory-families.ts";

export interface RuntimeOptions {
  /**
   * Where users' memory is kept: what `fileStore` or `memoryStore` returns. Either this, or `dataDir`: both together, and
   * neither, are a `TypeError`.
   *
   * @example
   * const runtime = await createRuntime({ store: memoryStore() });
   */
  readonly store?: StoreDefinition;
  /** Short for `store: fileStore({ dir: dataDir, mounts, durability })`: the folder that holds `users/`. */
  readonly dataDir?: string;
  /** Beside `dataDir`, as `fileStore` has it: folders that each stand for one scope of one user. */
  readonly mounts?: readonly Mount[];
  /**
   * Plugin files, or names of plugins of the package, such as `journal`: a-z, 0-9 and `-`. Default: all of the package. A name
   * that it does not have is `PLUGIN_REFUSED`.
   */
  readonly plugins?: readonly string[];
  /**
   * What the host is willing to grant: a policy file, or an object of its form. Default: the policy that comes with the
   * package, which grants what the tools of the package need and nothing to any other plugin, and pins their files.
   *
   * A plugin, tool, right or scope that it does not name is not granted: a plugin that asks for it is `PLUGIN_REFUSED`,
   * as is every plugin when the policy cannot be used (not there, not of the form, a limit above the host's own). A tool
   * that asks for less than it may have gets what it asks for. Limits of the policy hold beside those of the plugin and
   * of these options: the lowest counts. `memcell audit FILE --propose` prints a policy for a plugin of yours.
   *
   * @example
   * const runtime = await createRuntime({ dataDir: "data", plugins: ["notes.wasm"], policy: "policy.json" });
   */
  readonly policy?: string | PolicyFile;
  /** Threads that run guests. Default: one for each core. */
  readonly threadsMax?: number;
  /** Beside `dataDir`, as `fileStore` has it. Default: `full`. */
  readonly durability?: "full" | "relaxed";
  /**
   * How long a call may wait for its turn: behind the same user's earlier calls, for other processes that use the same
   * data folder, and for a thread. Milliseconds, 1 to 2^31 - 1; default 30,000. Beyond it the call is `BUSY`.
   */
  readonly waitMs?: number;
  /**
   * What serves a call. `restored`, the default: a thread keeps one instance of each plugin, and before each call puts
   * all of it back to where it was before any code ran. `fresh`: every call has an instance of its own, four times the
   * work for a processor. A guest cannot tell them apart, and either way finds nothing of a call before.
   */
  readonly instances?: "restored" | "fresh";
  /**
   * How long a guest may run, from the moment its thread begins with the call: time in line does not count. It only
   * lowers what the plugin's manifest and the policy say (10,000). Milliseconds, 1 to 2^31 - 1. Beyond it the thread is ended, and the
   * call is `DEADLINE_EXCEEDED`; other calls do not notice.
   */
  readonly deadlineMs?: number;
  /** The guest's computing budget, in polls of its engine; only lowers what manifest and policy say. From 1. */
  readonly fuelPolls?: number;
  /**
   * How many calls may wait in all; running ones do not count. From 1; default 1,024. When there is no more room, the
   * newest call of the user with the longest line is `BUSY`, so that one user's flood keeps nobody else out. A call
   * that would make its own line as long as the longest is `BUSY` itself. Waiting inputs take up to 64 MiB, by the same
   * rule.
   */
  readonly queuedCallsMax?: number;
  /** How many calls of one user may wait. From 1; default 128. Beyond it a call is `BUSY` at once. */
  readonly queuedCallsPerUserMax?: number;
  /**
   * How long `close()` lets calls go on before it cancels them. Milliseconds, 1 to 2^31 - 1; default 10,000.
   */
  readonly closeGraceMs?: number;
  /** The clock of `created`, `updated` and trash stamps, in milliseconds since 1970. Default: the machine's. */
  readonly clock?: () => number;
  /**
   * Where calls are recorded. Default: nowhere. One record tells of each call: who called which tool of which plugin
   * file, what it was granted, read, changed and was denied; never what a file, an input or an answer holds. See
   * `AuditLogOptions`.
   *
   * A call whose record cannot be written fails with `STORAGE_FULL` or `STORAGE_FAILED` and commits nothing. What is to
   * be committed is recorded before; when only the record of the finished call is missing, its result is a success, for
   * it is durable, and all that it changed is in the log.
   */
  readonly auditLog?: AuditLogOptions;
  /** Receives what guests log and what lies behind host failures; what it throws is ignored. Default: nothing is kept. */
  readonly onLog?: (entry: LogEntry) => void;
}

export interface Runtime {
  /**
   * Calls a tool for a user. Resolves to a value in every case; it never rejects for a tool's failure.
   *
   * Calls of one user run one after another in the order they were made, also across processes that share the data
   * folder; calls of different users run in parallel. What a successful call changed is in the user's folder when the
   * promise resolves, and durable; of a failed call nothing is.
   *
   * Isolation: the guest starts from the same state every time. It sees the scopes its manifest names in the folder of
   * `ctx.userId`, and nothing else: no file, no other user, no network, no environment.
   *
   * Bounds: too many waiting calls, or too long a wait, is `BUSY` (see `queuedCallsMax` and `waitMs`). A guest that runs
   * for too long is ended (`FUEL_EXHAUSTED`, or `DEADLINE_EXCEEDED`, see `deadlineMs`). `ctx.signal` cancels the call
   * wherever it is until its commit begins: then it is `CANCELLED`, and nothing is written. A call whose commit has
   * begun finishes and tells what became of it.
   *
   * Error codes: `TOOL_UNKNOWN`, `USER_REQUIRED`, `USER_INVALID`, `CLOSED`, `BUSY`, `CANCELLED`, `INPUT_INVALID` (also
   * for a `ctx.signal` that is no `AbortSignal`, a `ctx.callId` that names nothing, or `ctx.labels` that are none), those of the tool (`ENTRY_NOT_FOUND`, `ENTRY_UNREADABLE`,
   * `NAME_RESERVED`, `NAME_CONFLICT`, `QUOTA_EXCEEDED`, or one that its plugin declares as a case of one of these, which is
   * then in `error.of`; see `ToolDescription.errors`), of a misbehaving plugin (`CAPABILITY_DENIED`,
   * `OUTPUT_INVALID`, `OUTPUT_TOO_LARGE`, `GUEST_TRAPPED`, `FUEL_EXHAUSTED`, `DEADLINE_EXCEEDED`, `MEMORY_EXCEEDED`), and
   * of the machine (`STORAGE_UNSAFE`, `STORAGE_FULL`, `STORAGE_FAILED`, `INTERNAL`).
   *
   * @example
   * const result = await runtime.call("ReadUserMemory", { name: "preferred-language" }, { userId: "alice" });
   * if (result.ok) console.log(result.data);
   * else console.log(result.error.code); // "ENTRY_NOT_FOUND"
   *
   * @example
   * const ctx = { userId: "alice", signal: AbortSignal.timeout(2_000) };
   * const cancelled = await runtime.call("ReadUserMemory", { name: "preferred-language" }, ctx);
   */
  call(tool: string, input: unknown, ctx: CallContext): Promise<ToolResult>;

  /**
   * Calls a tool that plugins offer to programs and not to models, with what is `call`'s in everything else. `tool` is its
   * name, or `family/Tool` where two plugins have the name.
   *
   * Error codes: as `call`. `TOOL_UNKNOWN` where no plugin has it, where it is for models, and where several plugins have
   * it: the message lists them.
   *
   * @example
   * const result = await runtime.callAsHost("user-memory/ListEntries", {}, { userId: "alice" });
   * if (result.ok) console.log(result.data);
   */
  callAsHost(tool: string, input: unknown, ctx: CallContext): Promise<ToolResult>;

  /**
   * The user's index as text for a system prompt: of every plugin that has one, framed as data, in the order of the plugins.
   * At most 200 lines and 25 KB, which are one plugin's without its frame where it alone has something to say: what does not
   * fit is cut by its plugin, so that each has a fair share; where not even the frames fit, a last line counts the others.
   * Empty for a user of whom nothing is kept. `family` asks one plugin alone. Reads only, creates nothing; `ctx.signal`
   * cancels it as it cancels a call.
   *
   * Where one plugin of several fails, `(NAME could not be read: CODE)` stands in its place, and `onLog` is told why. Rejects
   * with a `ToolError` when all fail, or the one that `family` names; and with `USER_REQUIRED`, `USER_INVALID`, `BUSY`,
   * `CLOSED` or `CANCELLED`, which no plugin can report.
   *
   * @example
   * const prompt = `${instructions}\n${await runtime.memoryIndex({ userId: "alice" })}`;
   */
  memoryIndex(ctx: CallContext, options?: FamilyChoice): Promise<string>;

  /** The tools a model may call, in the order their plugins declare them. */
  tools(): ToolDescription[];

  /**
   * A tool's page: what it is for, its parameters, examples. Markdown, for a model that asks and for people; `null` where
   * the plugin brings none. Throws a `ToolError` with `TOOL_UNKNOWN`.
   *
   * @example
   * console.log(runtime.documentation("UpdateUserMemory"));
   */
  documentation(tool: string): string | null;

  /** Whether `families()` has any. */
  readonly hasMemory: boolean;

  /**
   * The plugins that have an index, entries, or can read one, in their order. Always the same, and frozen. `memoryIndex`,
   * `memoryEntries` and `readEntry` each reject with `TOOL_UNKNOWN` where none of them can be asked.
   */
  families(): readonly MemoryFamily[];

  /**
   * The user's entries, of every plugin that has any, each in its own order: names and descriptions, all of them. Cancelled
   * and rejected as `memoryIndex`; where one plugin of several fails, its entries are missing, and `onLog` is told why. Reads
   * only, creates nothing. `family` asks one plugin alone.
   *
   * @example
   * for (const { family, name, description } of await runtime.memoryEntries({ userId: "alice" }))
   *   console.log(family, name, description);
   */
  memoryEntries(ctx: CallContext, options?: FamilyChoice): Promise<readonly MemoryEntry[]>;

  /**
   * One entry's text, by a name of `memoryEntries`. `family` may be left out where one plugin alone can read its entries;
   * where several can, that is `INPUT_INVALID`, and the message names them. Rejects with a `ToolError` where `call` would
   * return an error: `ENTRY_NOT_FOUND` where there is none, and what else its plugin says of a name that no entry can have.
   *
   * @example
   * const { body } = await runtime.readEntry({ family: "user-memory", name: "editor" }, { userId: "alice" });
   */
  readEntry(entry: EntryName, ctx: CallContext): Promise<EntryText>;

  /**
   * Tells of every change that this runtime commits, when it is durable; not of those of other processes. Returns what
   * ends it. What a listener throws is ignored.
   *
   * @example
   * const stop = runtime.onChange(({ userId, files }) => console.log(userId, files.length));
   * stop();
   */
  onChange(listener: (change: MemoryChange) => void): () => void;

  /**
   * Records in the audit log that something was refused before any tool was called: a token that is no good, say. Whoever
   * admits users calls it. A flood is counted rather than written one by one: see `auditLimits` in the documentation of
   * the log. Never throws: what cannot be recorded is told to `onLog`.
   *
   * @example
   * runtime.refused({ surface: "http", reason: "token-expired", peer: "192.0.2.1" });
   */
  refused(refusal: Refusal): void;

  /** For the owner of the data: the doctor, the trash, export and import. Nothing of it is offered to a tool. */
  readonly upkeep: Upkeep;

  /**
   * Ends the runtime. Later calls are `CLOSED`. What was admitted, upkeep included, goes on for `closeGraceMs`; then
   * waiting and running calls are `CANCELLED`, and commits that have begun finish. Then the store is tidied up and
   * the threads ended. No acknowledged call is lost, and nothing is left that keeps the process alive.
   *
   * Closing again is harmless and returns the same promise. It never rejects for a call's failure.
   *
   * @example
   * process.once("SIGTERM", () => void runtime.close());
   */
  close(): Promise<void>;

  /** The same as `close()`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

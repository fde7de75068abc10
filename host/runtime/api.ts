/** The types of the runtime, which `index.ts` exports. */
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
   * Where users' memory is kept: the result of `fileStore` or `memoryStore`. Pass either this or `dataDir`; both or
   * neither is a `TypeError`.
   *
   * @example
   * const runtime = await createRuntime({ store: memoryStore() });
   */
  readonly store?: StoreDefinition;
  /** Short for `store: fileStore({ dir: dataDir, mounts, durability })`: the folder that holds `users/`. */
  readonly dataDir?: string;
  /** Only with `dataDir`; see `fileStore`. Each mount is a folder that serves as one scope of one user. */
  readonly mounts?: readonly Mount[];
  /**
   * Plugin files, or names of plugins in the package, such as `journal`: a-z, 0-9 and `-`. Default: all plugins in the
   * package. A name that the package does not have is `PLUGIN_REFUSED`.
   */
  readonly plugins?: readonly string[];
  /**
   * What the host is willing to grant: a policy file, or an object of the same form. Default: the policy in the
   * package. It grants what the tools of the package need and nothing to any other plugin, and it pins the plugin
   * files.
   *
   * A plugin, tool, right or scope that the policy does not name is not granted. A plugin that requests it is
   * `PLUGIN_REFUSED`. If the policy cannot be used (missing, wrong form, a limit above the host's own), every plugin
   * is. A tool that requests less than the policy allows gets only what it requests. Of the limits in policy, plugin
   * and these options, the lowest counts. `memcell audit FILE --propose` prints a policy for your own plugin.
   *
   * @example
   * const runtime = await createRuntime({ dataDir: "data", plugins: ["notes.wasm"], policy: "policy.json" });
   */
  readonly policy?: string | PolicyFile;
  /** Threads that run guests. Default: one for each core. */
  readonly threadsMax?: number;
  /** Only with `dataDir`; see `fileStore`. Default: `full`. */
  readonly durability?: "full" | "relaxed";
  /**
   * How long a call may wait for its turn: for the same user's earlier calls, for other processes that use the same
   * data folder, and for a thread. Milliseconds, 1 to 2^31 - 1; default 30,000. A call that waits longer is `BUSY`.
   */
  readonly waitMs?: number;
  /**
   * Which plugin instance serves a call. `restored`, the default: a thread keeps one instance of each plugin, and
   * before each call restores it to its state before any code ran. `fresh`: every call gets a new instance, which costs
   * four times the CPU time. A guest cannot tell the difference, and in both cases it finds nothing from an earlier
   * call.
   */
  readonly instances?: "restored" | "fresh";
  /**
   * How long a guest may run, from the moment its thread begins with the call: waiting time does not count. It can only
   * lower the limit of the plugin's manifest and the policy (10,000). Milliseconds, 1 to 2^31 - 1. When the time is
   * over, the thread is terminated, and the call is `DEADLINE_EXCEEDED`. Other calls are not affected.
   */
  readonly deadlineMs?: number;
  /** The guest's computing budget, in polls of its engine. Can only lower the limit of manifest and policy. From 1. */
  readonly fuelPolls?: number;
  /**
   * How many calls may wait in total; running calls do not count. From 1; default 1,024. When the queue is full, the
   * newest call of the user with the most waiting calls is `BUSY`, so that one user's flood does not block others. A
   * new call that would make its own user's queue as long as the longest one is `BUSY` itself. The inputs of waiting
   * calls may take up to 64 MiB, by the same rule.
   */
  readonly queuedCallsMax?: number;
  /** How many calls of one user may wait. From 1; default 128. Further calls are `BUSY` at once. */
  readonly queuedCallsPerUserMax?: number;
  /**
   * How long `close()` lets calls continue before it cancels them. Milliseconds, 1 to 2^31 - 1; default 10,000.
   */
  readonly closeGraceMs?: number;
  /** The clock for `created`, `updated` and trash stamps, in milliseconds since 1970-01-01 UTC. Default: `Date.now`. */
  readonly clock?: () => number;
  /**
   * Where calls are recorded. Default: nowhere. Each call has a record: who called which tool of which plugin file, and
   * what it was granted, read, changed and was denied. A record never contains the content of files, inputs or answers.
   * See `AuditLogOptions`.
   *
   * A call whose record cannot be written fails with `STORAGE_FULL` or `STORAGE_FAILED` and commits nothing. Changes
   * are recorded before they are committed. If only the final record of a call cannot be written, the call still
   * succeeds: it is durable, and the log already has all its changes.
   */
  readonly auditLog?: AuditLogOptions;
  /** Receives guests' log lines and the causes of host failures. Exceptions from it are ignored. Default: no log. */
  readonly onLog?: (entry: LogEntry) => void;
}

export interface Runtime {
  /**
   * Calls a tool for a user. Always resolves to a value; never rejects when a tool fails.
   *
   * Calls of one user run one after another in the order they were made, also across processes that share the data
   * folder. Calls of different users run in parallel. When the promise resolves, the changes of a successful call are
   * durable in the user's folder. A failed call changes nothing.
   *
   * Isolation: the guest starts from the same state every time. It can access only the scopes that its manifest names
   * in the folder of `ctx.userId`: no other file, no other user, no network, no environment.
   *
   * Bounds: too many waiting calls, or too long a wait, is `BUSY` (see `queuedCallsMax` and `waitMs`). A guest that
   * runs for too long is stopped (`FUEL_EXHAUSTED`, or `DEADLINE_EXCEEDED`, see `deadlineMs`). Until the commit begins,
   * `ctx.signal` cancels the call: it is `CANCELLED`, and nothing is written. A call whose commit has begun finishes
   * and returns its result.
   *
   * Error codes of the call: `TOOL_UNKNOWN`, `USER_REQUIRED`, `USER_INVALID`, `CLOSED`, `BUSY`, `CANCELLED`,
   * `INPUT_INVALID` (also for an invalid `ctx.signal`, `ctx.callId` or `ctx.labels`). Of the tool: `ENTRY_NOT_FOUND`,
   * `ENTRY_UNREADABLE`, `NAME_RESERVED`, `NAME_CONFLICT`, `QUOTA_EXCEEDED`, or a code that its plugin declares as a
   * case of one of these, which is then in `error.of` (see `ToolDescription.errors`). Of a misbehaving plugin:
   * `CAPABILITY_DENIED`, `OUTPUT_INVALID`, `OUTPUT_TOO_LARGE`, `GUEST_TRAPPED`, `FUEL_EXHAUSTED`, `DEADLINE_EXCEEDED`,
   * `MEMORY_EXCEEDED`. Of the machine: `STORAGE_UNSAFE`, `STORAGE_FULL`, `STORAGE_FAILED`, `INTERNAL`.
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
   * Calls a tool that plugins offer to programs and not to models. Otherwise the same as `call`. `tool` is the tool's
   * name, or `family/Tool` if two plugins have a tool of that name.
   *
   * Error codes: as `call`. `TOOL_UNKNOWN` if no plugin has the tool, if it is for models, or if several plugins have
   * it; then the message lists them.
   *
   * @example
   * const result = await runtime.callAsHost("user-memory/ListEntries", {}, { userId: "alice" });
   * if (result.ok) console.log(result.data);
   */
  callAsHost(tool: string, input: unknown, ctx: CallContext): Promise<ToolResult>;

  /**
   * Returns the user's index as text for a system prompt: the indexes of all plugins that have one, framed as data, in
   * the order of the plugins. At most 200 lines and 25 KB; if only one plugin has content, its frame does not count.
   * Each plugin has a fair share and shortens its index to that. If not even the frames fit, a last line counts the
   * hidden indexes. Empty for a user without stored memory. `family` selects one plugin. Reads only, creates nothing.
   * `ctx.signal` cancels it like a call.
   *
   * If one of several plugins fails, `(NAME could not be read: CODE)` takes its place; `onLog` gets the reason.
   * Rejects with a `ToolError` if all fail, or if the plugin that `family` names fails; also with `USER_REQUIRED`,
   * `USER_INVALID`, `BUSY`, `CLOSED` or `CANCELLED`, which no plugin can report.
   *
   * @example
   * const prompt = `${instructions}\n${await runtime.memoryIndex({ userId: "alice" })}`;
   */
  memoryIndex(ctx: CallContext, options?: FamilyChoice): Promise<string>;

  /** The tools that a model may call, in the order in which their plugins declare them. */
  tools(): ToolDescription[];

  /**
   * Returns a tool's page: its purpose, parameters and examples, in Markdown, for models and people. `null` if the
   * plugin has no page for it. Throws a `ToolError` with `TOOL_UNKNOWN`.
   *
   * @example
   * console.log(runtime.documentation("UpdateUserMemory"));
   */
  documentation(tool: string): string | null;

  /** Whether `families()` is not empty. */
  readonly hasMemory: boolean;

  /**
   * The plugins that have an index or entries, or can read an entry, in the order of the plugins. Always the same
   * frozen array. `memoryIndex`, `memoryEntries` and `readEntry` each reject with `TOOL_UNKNOWN` if no plugin supports
   * them.
   */
  families(): readonly MemoryFamily[];

  /**
   * Returns the names and descriptions of all entries of a user, from all plugins that have entries, each in its own
   * order. Cancelled and rejected like `memoryIndex`. If one of several plugins fails, its entries are missing, and
   * `onLog` gets the reason. Reads only, creates nothing. `family` selects one plugin.
   *
   * @example
   * for (const { family, name, description } of await runtime.memoryEntries({ userId: "alice" }))
   *   console.log(family, name, description);
   */
  memoryEntries(ctx: CallContext, options?: FamilyChoice): Promise<readonly MemoryEntry[]>;

  /**
   * Returns an entry by its name: its text, and what its plugin adds. `family` is optional if only one plugin can read
   * its entries; if several can, leaving it out is `INPUT_INVALID`, and the message names them. Rejects with a
   * `ToolError` where `call` would return an error: `ENTRY_NOT_FOUND` for an unknown entry, or the plugin's own error
   * for a name that no entry can have.
   *
   * @example
   * const { body } = await runtime.readEntry({ family: "user-memory", name: "editor" }, { userId: "alice" });
   */
  readEntry(entry: EntryName, ctx: CallContext): Promise<EntryText>;

  /**
   * Calls the listener for every change that this runtime commits, once it is durable; not for changes of other
   * processes. Returns a function that removes the listener. Exceptions from the listener are ignored.
   *
   * @example
   * const stop = runtime.onChange(({ userId, files }) => console.log(userId, files.length));
   * stop();
   */
  onChange(listener: (change: MemoryChange) => void): () => void;

  /**
   * Records in the audit log that a request was refused before any tool was called, for example because of an invalid
   * token. The program that admits users calls it. A flood of refusals is counted instead of recorded one by one: see
   * `auditLimits` in the documentation of the log. Never throws; if the refusal cannot be recorded, `onLog` gets the
   * reason.
   *
   * @example
   * runtime.refused({ surface: "http", reason: "token-expired", peer: "192.0.2.1" });
   */
  refused(refusal: Refusal): void;

  /** For the owner of the data: the doctor, the trash, export and import. Tools cannot use any of it. */
  readonly upkeep: Upkeep;

  /**
   * Closes the runtime. Later calls are `CLOSED`. Admitted calls and upkeep continue for `closeGraceMs`; then waiting
   * and running ones are `CANCELLED`, and commits that have begun finish. Then the store is closed and the threads are
   * stopped. No acknowledged call is lost, and nothing keeps the process alive.
   *
   * Closing again is harmless and returns the same promise. Never rejects because a call failed.
   *
   * @example
   * process.once("SIGTERM", () => void runtime.close());
   */
  close(): Promise<void>;

  /** The same as `close()`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

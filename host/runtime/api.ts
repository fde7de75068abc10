import type { Upkeep } from "../owner/upkeep.ts";
/** The runtime, which `index.ts` exports. */
import type { ToolFormat, ToolFormats } from "../plugins/formats/tool-formats.ts";
import type { ToolDescription } from "../plugins/tool-description.ts";
import type { CallContext } from "../values/call-context.ts";
import type { MemoryChange, PendingNotice } from "../values/memory-change.ts";
import type { Refusal } from "../values/refusal.ts";
import type { ToolResult } from "../values/tool-result.ts";
import type {
  EntriesChoice,
  EntryName,
  EntryText,
  FamilyChoice,
  MemoryEntry,
  MemoryFamily,
} from "./memory-families.ts";
import type { HostToolInput, HostToolName, HostToolOutput, ToolInput, ToolName, ToolOutput } from "./tool-types.ts";
import type { UserStores } from "./user-stores.ts";

export interface Runtime {
  /**
   * Calls a tool for a user. Always resolves to a value; never rejects when a tool fails.
   *
   * Calls of one user run one after another in the order they were made, also across processes that share the data
   * folder. Calls of different users run in parallel. When the promise resolves, the changes of a successful call are
   * durable in the user's folder. A failed call changes nothing.
   *
   * Types: the input and `data` have the types of the tool, for the tools of the package and those that a program adds to
   * `ToolTypes`. For a name that is any `string`, such as that of a model's tool call, both are `unknown`. The tool checks
   * each input, typed or not. In place of an optional field that cannot be `null`, it also takes `null`.
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
   * `INPUT_INVALID` (also for any other invalid part of `ctx`, and for a field that is none
   * of a context, with the nearest name). With `TOOL_UNKNOWN`, the result's
   * `hint` names a plugin of the package that has the tool and is not loaded. Of the tool: `ENTRY_NOT_FOUND`,
   * `ENTRY_UNREADABLE`, `NAME_RESERVED`, `NAME_CONFLICT`, `VERSION_CONFLICT`, `QUOTA_EXCEEDED`, or a code that its plugin
   * declares as a case of one of these, which is then in `error.of` (see `ToolDescription.errors`). Of a misbehaving
   * plugin: `CAPABILITY_DENIED`, `OUTPUT_INVALID`, `OUTPUT_TOO_LARGE`, `GUEST_TRAPPED`, `FUEL_EXHAUSTED`,
   * `DEADLINE_EXCEEDED`, `MEMORY_EXCEEDED`. Of the machine: `STORAGE_UNSAFE`, `STORAGE_FULL`, `STORAGE_FAILED`,
   * `STORAGE_BUSY`, `INTERNAL`.
   *
   * @example
   * const result = await runtime.call("ReadUserMemory", { name: "preferred-language" }, { userId: "alice" });
   * if (result.ok) console.log(result.data.body);
   * else console.log(result.error.code); // "ENTRY_NOT_FOUND"
   *
   * @example
   * const ctx = { userId: "alice", signal: AbortSignal.timeout(2_000) };
   * const cancelled = await runtime.call("ReadUserMemory", { name: "preferred-language" }, ctx);
   */
  call<Name extends ToolName>(
    tool: Name,
    input: ToolInput<Name>,
    ctx: CallContext,
  ): Promise<ToolResult<ToolOutput<Name>>>;

  /**
   * Calls a tool that plugins offer to programs and not to models. Otherwise the same as `call`. `tool` is the tool's
   * name, or `family/Tool` if two plugins have a tool of that name. Input and `data` have types for `family/Tool` only: see
   * `HostToolTypes`.
   *
   * Error codes: as `call`. `TOOL_UNKNOWN` if no plugin has the tool, if it is for models, or if several plugins have
   * it; then the message lists them.
   *
   * @example
   * const result = await runtime.callAsHost("user-memory/ListEntries", {}, { userId: "alice" });
   * if (result.ok) console.log(result.data.entries);
   */
  callAsHost<Name extends HostToolName>(
    tool: Name,
    input: HostToolInput<Name>,
    ctx: CallContext,
  ): Promise<ToolResult<HostToolOutput<Name>>>;

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

  /**
   * The tools that a model may call, in the order in which their plugins declare them: copies, which the caller can
   * change.
   *
   * With `format`, in the form in which an API takes them. `anthropic` is for Anthropic's Messages API. `openai` is for
   * OpenAI's Chat Completions API and the servers that are compatible with it, `openai-responses` for its Responses API.
   * The `-strict` ones are for the modes in which the API holds the model to the schema. There, the schema has only what
   * the API's strict mode takes, and bounds that it does not know are in the descriptions. A tool whose input cannot be
   * said in this way has `strict: false` and its own schema.
   *
   * In OpenAI's strict mode, a model sends every field, and `null` for those that it does not use: the tools take that.
   * Throws a `ToolError` with `INPUT_INVALID` for an unknown format.
   *
   * @example
   * const tools = runtime.tools({ format: "anthropic" });
   * const message = await client.messages.create({ model, max_tokens, messages, tools });
   *
   * @example
   * const tools = runtime.tools({ format: "openai-strict" });
   * const completion = await client.chat.completions.create({ model, messages, tools });
   */
  tools(): ToolDescription[];
  tools<Format extends ToolFormat>(options: { readonly format: Format }): ToolFormats[Format][];

  /**
   * What the loaded plugins tell a model about when and how to use their tools, for a system prompt: a line for each
   * plugin that has tools for models and says something, in the order of the plugins. A read-only runtime adds that
   * memory can only be read, and another one names the tools of these plugins that its policy keeps from models. Empty if
   * no plugin says anything.
   *
   * @example
   * const system = `${instructions}\n${runtime.instructions()}\n${await runtime.memoryIndex({ userId: "alice" })}`;
   */
  instructions(): string;

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
   * An entry that the user has neither written nor approved has `origins`. Show them with it. A list that gets to a model
   * needs `forPrompt`, too: then entries that the policy keeps out of prompts are missing, as in the index.
   *
   * @example
   * for (const { family, name, description } of await runtime.memoryEntries({ userId: "alice" }))
   *   console.log(family, name, description);
   */
  memoryEntries(ctx: CallContext, options?: EntriesChoice): Promise<readonly MemoryEntry[]>;

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
   * Calls the listener for every change that this runtime commits, once it is durable and nothing is held any more, before
   * the call's promise resolves; not for changes of other processes. Of one user, in the order of the commits. A promise of
   * the listener is not awaited. Returns a function that removes the listener. Exceptions from the listener are ignored.
   *
   * @example
   * const stop = runtime.onChange(({ userId, tool, run, files }) => console.log(userId, tool, run, files.length));
   * stop();
   */
  onChange(listener: (change: MemoryChange) => void): () => void;

  /**
   * Calls the listener for every write of a call of this runtime that waits for the owner of the memory, once it is kept and
   * nothing is held any more: show it to the person, who approves or rejects it with `upkeep`. Otherwise as `onChange`.
   *
   * @example
   * const stop = runtime.onPending(({ userId, id }) => notify(userId, `An agent suggests something to remember: ${id}`));
   * stop();
   */
  onPending(listener: (notice: PendingNotice) => void): () => void;

  /**
   * Calls the listener when another host has changed the user's memory or own store, until the returned function is
   * called. Only a database tells: for a data folder, the listener is never called. It is not told what has changed, and
   * it can be called for nothing. Exceptions from it are ignored. Throws a `ToolError` with `USER_INVALID` for a user id
   * that no user can have.
   *
   * @example
   * const stop = runtime.onChangeElsewhere("alice", () => console.log("read the index again"));
   * stop();
   */
  onChangeElsewhere(userId: string, listener: () => void): () => void;

  /**
   * Records in the audit log that a request was refused before any tool was called, for example because of an invalid
   * token, and tells `onLog`. The program that admits users calls it. A flood of refusals is counted instead of told one
   * by one: see `auditLimits` in the documentation of the log. Never throws; if the refusal cannot be recorded, `onLog`
   * gets the reason.
   *
   * @example
   * runtime.refused({ surface: "http", reason: "token-expired", peer: "192.0.2.1" });
   */
  refused(refusal: Refusal): void;

  /**
   * The shared stores of a user: which ones the user reaches, the grants of the user's own, and values of programs.
   *
   * @example
   * const stores = runtime.stores({ userId: "alice" });
   * await stores.setInternal(null, "weather-key", key, { encrypted: true, ttl: 3_600 });
   */
  stores(ctx: CallContext): UserStores;

  /** For the owner of the data: the doctor, the trash, export and import. Tools cannot use any of it. */
  readonly upkeep: Upkeep;

  /**
   * The same runtime for a caller that may change nothing: it offers and does only what one with the option `readOnly`
   * does, and the rest is unknown (`TOOL_UNKNOWN`) or `READ_ONLY`. Unlike with the option, a change that a crash has
   * interrupted is finished before a call reads. Always the same object; of a read-only runtime, itself. Closing either
   * closes both.
   *
   * @example
   * const mine = request.mayWrite ? runtime : runtime.asReadOnly();
   * await mine.call("ReadUserMemory", { name: "editor" }, { userId: "alice" });
   */
  asReadOnly(): Runtime;

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

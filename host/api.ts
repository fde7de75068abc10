/** What the runtime offers, as types: the surface that `index.ts` exports. */
import type { CallContext } from "./call-context.ts";
import type { ToolResult } from "./tool-result.ts";
import type { Upkeep } from "./upkeep/upkeep.ts";

/** What a function-calling API needs to know of a tool. */
export interface ToolDescription {
  readonly name: string;
  readonly description: string;
  /** JSON Schema, draft 2020-12. The top level is an object without unions. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
  /** JSON Schema of a successful result's `data`. */
  readonly outputSchema: Readonly<Record<string, unknown>>;
}

/** One line that a guest or the host wrote for the operator. It may name host paths: not for models. */
export interface LogEntry {
  readonly level: "debug" | "info" | "warn" | "error";
  /** The tool that was called; `store` for what the store has found in a folder and mended. */
  readonly tool: string;
  readonly userId: string;
  readonly text: string;
}

export interface RuntimeOptions {
  /** The folder that holds `users/`. Made on the first write. */
  readonly dataDir: string;
  /** Plugin files. Default: those that come with the package. */
  readonly plugins?: readonly string[];
  /** Threads that run guests. Default: one for each core. */
  readonly threadsMax?: number;
  /**
   * `full`, the default: what a successful call changed is on the disk when its promise resolves, and survives a power
   * cut. `relaxed`: it survives the death of the process, but when the machine stops, the last seconds of changes may
   * be lost, and a change set may be found half there. Faster where a flush is slow.
   */
  readonly durability?: "full" | "relaxed";
  /**
   * How long a call may wait for its turn: behind the same user's earlier calls, and for other processes that use the
   * same data folder. Milliseconds, 1 to 2^31 - 1; default 30,000. Beyond it the call is `BUSY`.
   */
  readonly waitMs?: number;
  /**
   * What serves a call. `restored`, the default: a thread keeps one instance of each plugin, and before each call puts
   * all of it back to where it was before any code ran. `fresh`: every call has an instance of its own, four times the
   * work for a processor. A guest cannot tell them apart, and either way finds nothing of a call before.
   */
  readonly instances?: "restored" | "fresh";
  /** The clock of `created`, `updated` and trash stamps, in milliseconds since 1970. Default: the machine's. */
  readonly clock?: () => number;
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
   * Error codes: `TOOL_UNKNOWN`, `USER_REQUIRED`, `USER_INVALID`, `CLOSED`, `BUSY`, `INPUT_INVALID`, those of the tool
   * (`ENTRY_NOT_FOUND`, `ENTRY_UNREADABLE`, `NAME_RESERVED`, `NAME_CONFLICT`, `QUOTA_EXCEEDED`), of a misbehaving plugin
   * (`CAPABILITY_DENIED`, `OUTPUT_INVALID`, `OUTPUT_TOO_LARGE`, `GUEST_TRAPPED`, `FUEL_EXHAUSTED`, `MEMORY_EXCEEDED`),
   * and of the machine (`STORAGE_UNSAFE`, `STORAGE_FULL`, `STORAGE_FAILED`, `INTERNAL`).
   *
   * @example
   * const result = await runtime.call("ReadUserMemory", { name: "preferred-language" }, { userId: "alice" });
   * if (result.ok) console.log(result.data);
   * else console.log(result.error.code); // "ENTRY_NOT_FOUND"
   */
  call(tool: string, input: unknown, ctx: CallContext): Promise<ToolResult>;

  /**
   * The user's index as text for a system prompt: at most 200 lines and 25 KB of it, framed as data. Empty for a user
   * without entries. Reads only, creates nothing. Rejects with a `ToolError` where `call` would return an error.
   *
   * @example
   * const prompt = `${instructions}\n${await runtime.memoryIndex({ userId: "alice" })}`;
   */
  memoryIndex(ctx: CallContext): Promise<string>;

  /** The tools a model may call, in the order their plugins declare them. */
  tools(): ToolDescription[];

  /** For the owner of the data: the doctor and the trash. Nothing of it is offered to a tool. */
  readonly upkeep: Upkeep;

  /** Finishes the calls already made, then ends the threads. Later calls get `CLOSED`. Closing twice is harmless. */
  close(): Promise<void>;

  [Symbol.asyncDispose](): Promise<void>;
}

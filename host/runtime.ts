/** Calls tools: finds the tool, keeps a user's calls in order, has a thread run the guest, commits what it changed. */
import { resolve } from "node:path";

import type { ManifestTool } from "../shared/manifest.ts";
import { quoted } from "../shared/text.ts";
import { promptIndexOutput } from "../shared/user-memory/prompt-index.ts";
import { safeParse } from "../shared/zod.ts";
import { bundledPluginFiles, loadCatalog } from "./catalog.ts";
import type { Catalog, CatalogTool } from "./catalog.ts";
import { encodeInput } from "./encode-input.ts";
import { grantFor } from "./grant.ts";
import { createPool } from "./pool.ts";
import type { Pool } from "./pool.ts";
import { openStore } from "./store/open-store.ts";
import type { Store, StoreLocation } from "./store/store.ts";
import { asToolError, ToolError } from "./tool-error.ts";
import { envelopeOf, resultOf } from "./tool-result.ts";
import type { ToolResult } from "./tool-result.ts";
import { checkUserId } from "./user-id.ts";
import type { UserId } from "./user-id.ts";
import { UserQueue } from "./user-queue.ts";

/** On whose behalf a call is made. The user comes from here and from nowhere else. */
export interface CallContext {
  /** The authenticated user: 1 to 128 bytes, no control characters, no slashes. */
  readonly userId: string;
}

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
  /** The clock of `created`, `updated` and trash stamps, in milliseconds since 1970. Default: the machine's. */
  readonly clock?: () => number;
  /** Receives what guests log and what lies behind host failures. Default: nothing is kept. */
  readonly onLog?: (entry: LogEntry) => void;
}

export interface Runtime {
  /**
   * Calls a tool for a user. Resolves to a value in every case; it never rejects for a tool's failure.
   *
   * Calls of one user run one after another in the order they were made; calls of different users run in parallel.
   * What a successful call changed is in the user's folder when the promise resolves; of a failed call nothing is.
   *
   * Isolation: the guest starts from the same state every time. It sees the scopes its manifest names in the folder of
   * `ctx.userId`, and nothing else: no file, no other user, no network, no environment.
   *
   * Error codes: `TOOL_UNKNOWN`, `USER_REQUIRED`, `USER_INVALID`, `CLOSED`, `INPUT_INVALID`, those of the tool
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

  /** Finishes the calls already made, then ends the threads. Later calls get `CLOSED`. Closing twice is harmless. */
  close(): Promise<void>;

  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Loads plugins and starts a thread to run them in.
 *
 * Rejects with `PLUGIN_REFUSED` when a file is not exactly what its manifest says, and with a `TypeError` for options
 * that make no sense.
 *
 * @example
 * const runtime = await createRuntime({ dataDir: "data" });
 * await runtime.close();
 */
export async function createRuntime(options: RuntimeOptions): Promise<Runtime> {
  const { dataDir, plugins, threadsMax, clock = Date.now, onLog = () => {} } = options;
  if (typeof dataDir !== "string" || dataDir === "") throw new TypeError("createRuntime needs a dataDir");
  if (threadsMax !== undefined && !(Number.isInteger(threadsMax) && threadsMax > 0)) {
    throw new RangeError(`threadsMax is ${threadsMax}, allowed: a whole number from 1`);
  }
  const catalog = await loadCatalog(plugins ?? (await bundledPluginFiles()));
  const location: StoreLocation = { kind: "files", dataDir: resolve(dataDir) };
  const modules = catalog.plugins.map(({ module }) => module);
  return new LocalRuntime({
    catalog,
    store: openStore(location),
    pool: createPool({ modules, store: location }, threadsMax),
    clock,
    onLog,
  });
}

interface RuntimeParts {
  readonly catalog: Catalog;
  readonly store: Store;
  readonly pool: Pool;
  readonly clock: () => number;
  readonly onLog: (entry: LogEntry) => void;
}

class LocalRuntime implements Runtime {
  readonly #parts: RuntimeParts;
  readonly #queue = new UserQueue();
  #closing: Promise<void> | null = null;

  constructor(parts: RuntimeParts) {
    this.#parts = parts;
  }

  async call(tool: string, input: unknown, ctx: CallContext): Promise<ToolResult> {
    return this.#callFor("model", tool, input, ctx);
  }

  async memoryIndex(ctx: CallContext): Promise<string> {
    const result = await this.#callFor("host", "PromptIndex", {}, ctx);
    if (!result.ok) throw new ToolError(result.error.code, result.error.message);
    const parsed = safeParse(promptIndexOutput, result.data);
    if (!parsed.success) throw new ToolError("OUTPUT_INVALID", "Cannot use the answer of PromptIndex: it has no text");
    return parsed.data.text;
  }

  tools(): ToolDescription[] {
    return Array.from(this.#parts.catalog.tools.values(), ({ tool }) => tool)
      .filter(({ audience }) => audience === "model")
      .map(({ name, description, input, output }) => ({
        name,
        description,
        inputSchema: structuredClone(input),
        outputSchema: structuredClone(output),
      }));
  }

  close(): Promise<void> {
    this.#closing ??= this.#queue.idle().then(() => this.#parts.pool.close());
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #callFor(
    audience: ManifestTool["audience"],
    toolName: string,
    input: unknown,
    ctx: CallContext,
  ): Promise<ToolResult> {
    try {
      if (this.#closing) throw new ToolError("CLOSED", `Cannot call ${toolLabel(toolName)}: the runtime is closed`);
      const found = this.#find(audience, toolName);
      const userId = checkUserId((ctx as CallContext | null | undefined)?.userId);
      const text = encodeInput(toolName, input);
      return await this.#queue.run(userId, () => this.#perform(found, text, userId));
    } catch (error) {
      return resultOf(envelopeOf(asToolError(error, `call ${toolLabel(toolName)}`)));
    }
  }

  #find(audience: ManifestTool["audience"], toolName: string): CatalogTool {
    const found = this.#parts.catalog.tools.get(toolName);
    if (found?.tool.audience === audience) return found;
    const known = this.tools().map(({ name }) => name);
    throw new ToolError(
      "TOOL_UNKNOWN",
      `Cannot call ${toolLabel(toolName)}: no such tool, allowed: ${known.join(", ")}`,
    );
  }

  async #perform({ tool, moduleIndex }: CatalogTool, input: string, userId: UserId): Promise<ToolResult> {
    const { pool, store, clock, onLog } = this.#parts;
    const { envelope, changes, log } = await pool.run({
      toolName: tool.name,
      moduleIndex,
      exportName: tool.export,
      input,
      grant: grantFor(tool, userId),
      epochMs: clock(),
    });
    for (const line of log) onLog({ ...line, tool: tool.name, userId });
    store.commit(userId, changes);
    return resultOf(envelope);
  }
}

/** A tool's name as messages show it. Callers without types may pass anything. */
function toolLabel(toolName: unknown): string {
  return typeof toolName === "string" ? quoted(toolName) : `a tool whose name is of type ${typeof toolName}`;
}

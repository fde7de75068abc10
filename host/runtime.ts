/** Calls tools: finds the tool, keeps a user's calls in order, has a thread run the guest, commits what it changed. */
import { resolve } from "node:path";

import type { ManifestTool } from "../shared/manifest.ts";
import { quoted } from "../shared/text.ts";
import { promptIndexOutput } from "../shared/user-memory/prompt-index.ts";
import { safeParse } from "../shared/zod.ts";
import type { CallContext, LogEntry, Runtime, RuntimeOptions, ToolDescription } from "./api.ts";
import { bundledPluginFiles, loadCatalog } from "./catalog.ts";
import type { Catalog, CatalogTool } from "./catalog.ts";
import { causeLines } from "./cause-line.ts";
import { encodeInput } from "./encode-input.ts";
import { grantFor } from "./grant.ts";
import type { LogLine } from "./guest/guest-log.ts";
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
import type { WorkerTask } from "./worker.ts";

/**
 * Loads plugins and starts a thread to run them in.
 *
 * Rejects with `PLUGIN_REFUSED` when a file is not exactly what its manifest says, and with a `TypeError` or
 * `RangeError` for options that make no sense.
 *
 * @example
 * const runtime = await createRuntime({ dataDir: "data" });
 * await runtime.close();
 */
export async function createRuntime(options: RuntimeOptions): Promise<Runtime> {
  const { dataDir, plugins, threadsMax, clock = Date.now, onLog = () => {} } = options;
  const { durability = "full", waitMs = defaultWaitMs } = options;
  if (typeof dataDir !== "string" || dataDir === "") throw new TypeError("createRuntime needs a dataDir");
  if (plugins !== undefined && !Array.isArray(plugins)) throw new TypeError("plugins is not an array of files");
  if (typeof clock !== "function") throw new TypeError("clock is not a function");
  if (typeof onLog !== "function") throw new TypeError("onLog is not a function");
  if (threadsMax !== undefined && !(Number.isInteger(threadsMax) && threadsMax > 0)) {
    throw new RangeError(`threadsMax is ${threadsMax}, allowed: a whole number from 1`);
  }
  if (durability !== "full" && durability !== "relaxed") {
    throw new RangeError(`durability is ${String(durability)}, allowed: "full", "relaxed"`);
  }
  if (!(Number.isInteger(waitMs) && waitMs > 0))
    throw new RangeError(`waitMs is ${waitMs}, allowed: a whole number from 1`);
  const catalog = await loadCatalog(plugins ?? (await bundledPluginFiles()));
  const location: StoreLocation = { kind: "files", dataDir: resolve(dataDir) };
  const modules = catalog.plugins.map(({ module }) => module);
  return new LocalRuntime({
    catalog,
    store: openStore(location, { durability, note: (userId, text) => logNote(onLog, userId, text) }),
    pool: createPool({ modules, store: location }, threadsMax),
    clock,
    onLog,
    waitMs,
  });
}

/** How long a call waits for its turn. */
const defaultWaitMs = 30_000;

interface Turn {
  readonly userId: UserId;
  /** When waiting ends, on the clock of `performance.now()`. */
  readonly until: number;
}

interface RuntimeParts {
  readonly catalog: Catalog;
  readonly store: Store;
  readonly pool: Pool;
  readonly clock: () => number;
  readonly onLog: (entry: LogEntry) => void;
  readonly waitMs: number;
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
    this.#closing ??= this.#end();
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #end(): Promise<void> {
    await this.#queue.idle();
    await Promise.all([this.#parts.store.close(), this.#parts.pool.close()]);
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
      const until = performance.now() + this.#parts.waitMs;
      return await this.#queue.run(userId, until, () => this.#perform(found, text, { userId, until }));
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

  async #perform(found: CatalogTool, input: string, turn: Turn): Promise<ToolResult> {
    const { userId, until } = turn;
    const toolName = found.tool.name;
    try {
      const task = this.#taskFor(found, input, userId);
      const writes = task.grant.rights.some((right) => right === "write" || right === "trash");
      return await this.#parts.store.holdUser(userId, { writes, until }, async (held) => {
        const { envelope, changes, seen, log } = await this.#parts.pool.run(task);
        this.#log(log, toolName, userId);
        await held.commit(changes, seen);
        return resultOf(envelope);
      });
    } catch (error) {
      const failure = asToolError(error, `call ${toolName}`);
      this.#log(causeLines([failure.cause]), toolName, userId);
      throw failure;
    }
  }

  #taskFor({ tool, moduleIndex }: CatalogTool, input: string, userId: UserId): WorkerTask {
    const epochMs = this.#parts.clock();
    if (!Number.isSafeInteger(epochMs) || Math.abs(epochMs) > dateMsMax) {
      throw new RangeError(`clock() returned ${epochMs}, not whole milliseconds`);
    }
    return { toolName: tool.name, moduleIndex, exportName: tool.export, input, grant: grantFor(tool, userId), epochMs };
  }

  #log(lines: readonly LogLine[], tool: string, userId: string): void {
    for (const line of lines) writeLog(this.#parts.onLog, { ...line, tool, userId });
  }
}

/** What the store has found and mended by itself. */
function logNote(onLog: RuntimeParts["onLog"], userId: string, text: string): void {
  writeLog(onLog, { level: "warn", tool: "store", userId, text });
}

/** A log that fails must not undo a call. */
function writeLog(onLog: RuntimeParts["onLog"], entry: LogEntry): void {
  try {
    onLog(entry);
  } catch {
    // It was told once; there is nobody else to tell.
  }
}

/** The last millisecond that a JavaScript date can name. */
const dateMsMax = 8.64e15;

/** A tool's name as messages show it. Callers without types may pass anything. */
function toolLabel(toolName: unknown): string {
  return typeof toolName === "string" ? quoted(toolName) : `a tool whose name is of type ${typeof toolName}`;
}

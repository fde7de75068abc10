/** Calls tools: finds the tool, checks who calls, and has the call run. */
import { resolve } from "node:path";

import type { ManifestTool } from "../shared/manifest.ts";
import { quoted } from "../shared/text.ts";
import { promptIndexOutput } from "../shared/user-memory/prompt-index.ts";
import { safeParse } from "../shared/zod.ts";
import type { Runtime, RuntimeOptions, ToolDescription } from "./api.ts";
import type { CallContext } from "./call-context.ts";
import { CallRunner } from "./call-runner.ts";
import { bundledPluginFiles, loadCatalog } from "./catalog.ts";
import type { Catalog, CatalogTool } from "./catalog.ts";
import { createPool } from "./pool.ts";
import { checkOptions } from "./runtime-options.ts";
import { openStore } from "./store/open-store.ts";
import type { Store, StoreLocation } from "./store/store.ts";
import { asToolError, ToolError } from "./tool-error.ts";
import { envelopeOf, resultOf } from "./tool-result.ts";
import type { ToolResult } from "./tool-result.ts";
import { LocalUpkeep } from "./upkeep/local-upkeep.ts";
import type { Upkeep } from "./upkeep/upkeep.ts";
import { checkUserId } from "./user-id.ts";
import { writeLog } from "./write-log.ts";

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
  const { dataDir, plugins, threadsMax, clock, onLog, durability, waitMs, instances } = checkOptions(options);
  const catalog = await loadCatalog(plugins ?? (await bundledPluginFiles()));
  const location: StoreLocation = { kind: "files", dataDir: resolve(dataDir) };
  const modules = catalog.plugins.map(({ guest }) => guest);
  const store = openStore(location, {
    durability,
    note: (userId, text) => writeLog(onLog, { level: "warn", tool: "store", userId, text }),
  });
  const pool = createPool({ modules, instances, store: location }, threadsMax);
  return new LocalRuntime(catalog, store, new CallRunner({ store, pool, clock, onLog, waitMs }));
}

class LocalRuntime implements Runtime {
  readonly #upkeep: LocalUpkeep;
  readonly #catalog: Catalog;
  readonly #runner: CallRunner;
  #closing: Promise<void> | null = null;

  constructor(catalog: Catalog, store: Store, runner: CallRunner) {
    this.#catalog = catalog;
    this.#runner = runner;
    this.#upkeep = new LocalUpkeep({
      store,
      runner,
      find: (toolName) => this.#find("host", toolName),
      checkOpen: (action) => this.#checkOpen(action),
    });
  }

  get upkeep(): Upkeep {
    return this.#upkeep;
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
    return Array.from(this.#catalog.tools.values(), ({ tool }) => tool)
      .filter(({ audience }) => audience === "model")
      .map(({ name, description, input, output }) => ({
        name,
        description,
        inputSchema: structuredClone(input),
        outputSchema: structuredClone(output),
      }));
  }

  close(): Promise<void> {
    this.#closing ??= this.#upkeep.idle().then(() => this.#runner.close());
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
      this.#checkOpen(`call ${toolLabel(toolName)}`);
      const found = this.#find(audience, toolName);
      const userId = checkUserId((ctx as CallContext | null | undefined)?.userId);
      return await this.#runner.run(found, input, userId);
    } catch (error) {
      return resultOf(envelopeOf(asToolError(error, `call ${toolLabel(toolName)}`)));
    }
  }

  #find(audience: ManifestTool["audience"], toolName: string): CatalogTool {
    const found = this.#catalog.tools.get(toolName);
    if (found?.tool.audience === audience) return found;
    const known = this.tools().map(({ name }) => name);
    throw new ToolError(
      "TOOL_UNKNOWN",
      `Cannot call ${toolLabel(toolName)}: no such tool, allowed: ${known.join(", ")}`,
    );
  }

  #checkOpen(action: string): void {
    if (this.#closing) throw new ToolError("CLOSED", `Cannot ${action}: the runtime is closed`);
  }
}

/** A tool's name as messages show it. Callers without types may pass anything. */
function toolLabel(toolName: unknown): string {
  return typeof toolName === "string" ? quoted(toolName) : `a tool whose name is of type ${typeof toolName}`;
}

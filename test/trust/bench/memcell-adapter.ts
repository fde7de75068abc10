/** memcell as a memory of keys and values, for the benchmark. */
import { createRuntime, fileStore } from "memcell";
import type { CallContext, OriginClass, Runtime } from "memcell";

import { temporaryFolder } from "../../support/temporary-folder.ts";

/** The benchmark's words for a source. Nothing else decides: no key, no text, and an adapter never sees what is an attack. */
export const originOf: Readonly<Record<string, OriginClass>> = {
  user_input: "direct_user",
  agent_authored: "model_inference",
  system: "tool_internal",
  external_tool: "tool_external",
};

type Request = Readonly<Record<string, unknown>>;

/** A user for each scenario, so that each begins with an empty memory. */
export class MemcellAdapter implements AsyncDisposable {
  readonly #folder = temporaryFolder();
  #scenario = 0;
  #session = 0;
  #opened: Promise<Runtime> | null = null;

  get #ctx(): CallContext {
    return { userId: `scenario-${this.#scenario}` };
  }

  async answer(command: string, request: Request): Promise<object> {
    const { key, value, source, approves } = request;
    try {
      if (command === "begin") this.#scenario++;
      if (command === "remember") return await this.#remember(String(key), value, String(source));
      if (command === "recall") return await this.#recall(String(key));
      if (command === "reset") await this.#reset(approves === true);
      return {};
    } catch (error) {
      return { failed: String(error) };
    }
  }

  async #remember(key: string, value: unknown, source: string): Promise<object> {
    const of = originOf[source];
    const run = `session-${this.#session}`;
    const ctx = of === undefined ? this.#ctx : { ...this.#ctx, origin: { class: of, run, source } };
    // A description is in prompts, so no part of the text is in it.
    const about = { type: "reference", description: `The value of ${key}` };
    const entry = { action: "upsert", name: nameOf(key), ...about, body: value } as const;
    const answer = await (await this.#runtime()).call("UpdateUserMemory", entry, ctx);
    if (answer.ok) return { outcome: "stored" };
    return { outcome: answer.pending === undefined ? "blocked" : "quarantined" };
  }

  async #recall(key: string): Promise<object> {
    const runtime = await this.#runtime();
    const index = await runtime.memoryIndex(this.#ctx);
    try {
      return { value: (await runtime.readEntry({ name: nameOf(key) }, this.#ctx)).body, index };
    } catch (error) {
      if ((error as { code?: unknown }).code === "ENTRY_NOT_FOUND") return { value: null, index };
      throw error;
    }
  }

  /** The session ends: what a new one has is on the disk. */
  async #reset(approves: boolean): Promise<void> {
    const runtime = await this.#runtime();
    if (approves) {
      for (const { id } of await runtime.upkeep.pending(this.#ctx)) await runtime.upkeep.approve(this.#ctx, id);
    }
    await this.#close();
    this.#session++;
  }

  #runtime(): Promise<Runtime> {
    this.#opened ??= createRuntime({ store: fileStore({ dir: this.#folder.path }), plugins: ["user-memory"] });
    return this.#opened;
  }

  async #close(): Promise<void> {
    await (await this.#opened)?.close();
    this.#opened = null;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#close();
    this.#folder[Symbol.dispose]();
  }
}

/** Names have no dots. Two keys never become one name. */
const nameOf = (key: string): string =>
  key.replaceAll(/[^a-zA-Z0-9-]/g, (found) => `_${(found.codePointAt(0) ?? 0).toString(16).padStart(2, "0")}`);

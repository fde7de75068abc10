/** Replays vectors on the Node host: one runtime for vectors of the same plugin and limits, a new store for each. */
import { createRuntime } from "memcell";
import type { CallContext, Runtime, ToolResult } from "memcell";

import { policyFor } from "../support/policy-for.ts";
import { withoutTableFields } from "./plain-result.ts";
import { RenewedStore } from "./renewed-store.ts";
import type { FilesByFolder } from "./vector-files.ts";
import { vectorPlugin } from "./vector-plugins.ts";
import type { VectorStore, VectorStoreKind } from "./vector-stores.ts";
import { runtimeKey } from "./vector.ts";
import type { Vector, VectorCall, VectorStates } from "./vector.ts";

/** The results and files of a replayed vector. */
export interface Replayed {
  readonly results: unknown[];
  readonly files: FilesByFolder;
  readonly states: VectorStates;
}

interface SharedRuntime {
  readonly key: string;
  readonly runtime: Runtime;
  readonly store: RenewedStore;
}

/** Keeps one runtime at a time, so replay vectors with the same `runtimeKey` one after another. */
export class VectorRuntime implements AsyncDisposable {
  readonly #kind: VectorStoreKind;
  readonly #folder: string;
  #shared: SharedRuntime | null = null;
  #epochMs = 0;

  /** `folder` is for plugins and data. */
  constructor(kind: VectorStoreKind, folder: string) {
    this.#kind = kind;
    this.#folder = folder;
  }

  async replay(vector: Vector): Promise<Replayed> {
    await using opened = await this.#kind.open(vector, `${this.#folder}/data`);
    try {
      const { runtime, store } = await this.#runtimeFor(vector, opened);
      const results = await this.#callsOf(runtime, vector);
      // Such a vector can leave a terminated thread or a late call behind: the runtime waits for them.
      if (vector.limits !== undefined || vector.parallel) await this.#close();
      else await store.end();
      return { results, files: await opened.found(), states: await opened.foundStates() };
    } catch (error) {
      await this.#close();
      throw error;
    }
  }

  async #runtimeFor(vector: Vector, { definition }: VectorStore): Promise<SharedRuntime> {
    const key = runtimeKey(vector);
    if (this.#shared?.key === key) {
      await this.#shared.store.renew(definition);
      return this.#shared;
    }
    await this.#close();
    const store = new RenewedStore(definition);
    const plugins = [vectorPlugin(vector.plugin ?? "user-memory", this.#folder)];
    const options = { store: store.definition, plugins, policy: policyFor(plugins), threadsMax: 2, ...vector.limits };
    const runtime = await createRuntime({ ...options, clock: () => this.#epochMs });
    this.#shared = { key, runtime, store };
    return this.#shared;
  }

  async #callsOf(runtime: Runtime, vector: Vector): Promise<unknown[]> {
    const callOne = async (call: VectorCall): Promise<unknown> => {
      this.#epochMs = call.context.epochMs;
      return withoutTableFields(await answerOf(runtime, call));
    };
    if (vector.parallel) return await Promise.all(vector.calls.map(callOne));
    const results: unknown[] = [];
    for (const call of vector.calls) results.push(await callOne(call));
    return results;
  }

  async #close(): Promise<void> {
    const shared = this.#shared;
    this.#shared = null;
    await shared?.runtime.close();
    if (shared && shared.store.lateUses > 0) throw new Error("A call went on after its answer");
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#close();
  }
}

function answerOf(runtime: Runtime, { tool, audience, context, input }: VectorCall): Promise<ToolResult> {
  const ctx = callContext(context);
  return audience === "host" ? runtime.callAsHost(tool, input, ctx) : runtime.call(tool, input, ctx);
}

function callContext({ userId, stores }: VectorCall["context"]): CallContext {
  return { ...(userId !== undefined && { userId }), ...(stores && { stores }) } as CallContext;
}

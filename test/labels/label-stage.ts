/** A runtime with all plugins, of files or in memory, whose entries come from many sides. */
import { join } from "node:path";

import { createRuntime, fileStore, memoryStore } from "memcell";
import type { CallContext, OriginClass, PolicyFile, Runtime } from "memcell";
import { expect } from "vitest";

import { policyFor } from "../support/policy-for.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { shippedNames, shippedPlugin } from "../support/test-plugin.ts";
import { withTrust } from "../support/trusting-policy.ts";

export const engines = ["fileStore", "memoryStore"] as const;

export const alice = { userId: "alice" };

/** The time of all calls. */
export const day = "2026-11-20";

export const from = (of: OriginClass, exposedTo: readonly OriginClass[] = []): CallContext => ({
  ...alice,
  origin: { class: of },
  exposedTo,
});

/** Entries of these trusts, and better ones, are in prompts. */
export const policyWithPrompt = (prompt: OriginClass): PolicyFile =>
  withTrust(policyFor(shippedNames().map(shippedPlugin)), { active: "untrusted_document", prompt });

const clock = (): number => Date.parse(`${day}T10:00:00Z`);

export interface LabelStage extends AsyncDisposable {
  readonly runtime: Runtime;
  readonly dataDir: string;
  /** Calls a tool that must succeed, and returns its result. */
  readonly call: (tool: string, input: object, ctx?: CallContext) => Promise<Answered>;
  readonly remember: (name: string, of: OriginClass | null, text?: string) => Promise<Answered>;
  /** What the prompt has of one plugin. */
  readonly index: (family?: string) => Promise<string>;
  /** Its lines about origins. */
  readonly labels: (family?: string) => Promise<string[]>;
}

export type Answered = Extract<Awaited<ReturnType<Runtime["call"]>>, { ok: true }>;

export async function openLabelStage(
  engine: (typeof engines)[number] = "memoryStore",
  policy: PolicyFile = policyWithPrompt("untrusted_document"),
): Promise<LabelStage> {
  const folder = temporaryFolder();
  const dataDir = join(folder.path, "data");
  const store = engine === "memoryStore" ? memoryStore() : fileStore({ dir: dataDir });
  const plugins = shippedNames();
  const runtime = await createRuntime({ store, policy, plugins, threadsMax: 1, clock });
  const call: LabelStage["call"] = async (tool, input, ctx = alice) => {
    const isForModels = runtime.tools().some(({ name }) => name === tool);
    const result = await (isForModels ? runtime.call(tool, input, ctx) : runtime.callAsHost(tool, input, ctx));
    if (!result.ok) expect.fail(result.error.message);
    return result;
  };
  const index = (family?: string): Promise<string> =>
    runtime.memoryIndex(alice, family === undefined ? {} : { family });
  return {
    runtime,
    dataDir,
    call,
    remember: (name, of, text = `about ${name}`) =>
      call(
        "UpdateUserMemory",
        { action: "upsert", name, type: "project", description: text, body: text },
        of === null ? alice : from(of),
      ),
    index,
    labels: async (family) => (await index(family)).split("\n").filter((line) => line.startsWith("Origin")),
    async [Symbol.asyncDispose]() {
      await runtime.close();
      folder[Symbol.dispose]();
    },
  };
}

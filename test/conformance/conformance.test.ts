/** Replays every vector on the Node host with each of its stores, and what it alone must do besides. */
import { createRuntime, ToolError } from "memcell";
import type { CallContext, Runtime, StoreDefinition } from "memcell";
import { afterAll, describe, expect, test } from "vitest";

import { policyFor } from "../support/policy-for.ts";
import { skipWithReason } from "../support/skip-with-reason.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { withoutTableFields } from "./plain-result.ts";
import { expectedFiles } from "./vector-files.ts";
import { vectorPlugin } from "./vector-plugins.ts";
import { vectorStores, whyFiles } from "./vector-stores.ts";
import type { VectorStoreKind } from "./vector-stores.ts";
import { readVectors } from "./vector.ts";
import type { Vector, VectorCall } from "./vector.ts";

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());

const vectors = [...readVectors(), ...readVectors("node-vectors")];

describe.each(Object.entries<VectorStoreKind>(vectorStores))("%s", (_kind, stores) => {
  test.for(vectors)("$name", async ({ vector }, context) => {
    const lacking = stores.lacks(vector, folder.path);
    if (lacking !== null) skipWithReason(context, lacking);
    const store = await stores.open(vector, `${folder.path}/${context.task.id}`);
    const results = await replay(store.definition, vector);
    expect(results).toEqual(vector.calls.map(({ result }) => result));
    expect(await store.found()).toEqual(expectedFiles(vector));
  });
});

test("no vector needs files but those that are about files", () => {
  const reasons = vectors.flatMap(({ vector }) => whyFiles(vector) ?? []);
  expect(
    Object.fromEntries(reasons.map((reason) => [reason, reasons.filter((each) => each === reason).length])),
  ).toEqual({
    "it is about symbolic links": 18,
    "it is about second names of a file": 1,
    "it is about folders without files": 2,
    "it is about the names of users' folders": 4,
    "it is about what lies in a user's folder and no tool can name": 5,
  });
});

async function replay(store: StoreDefinition, vector: Vector): Promise<unknown[]> {
  let epochMs = 0;
  const plugins = [vectorPlugin(vector.plugin ?? "user-memory", folder.path)];
  const options = { store, plugins, policy: policyFor(plugins), threadsMax: 2, ...vector.limits };
  await using runtime = await createRuntime({ ...options, clock: () => epochMs });
  const callOne = async (call: VectorCall): Promise<unknown> => {
    epochMs = call.context.epochMs;
    return call.audience === "host" ? callForHost(runtime, call) : callForModel(runtime, call);
  };
  if (vector.parallel) return await Promise.all(vector.calls.map(callOne));
  const results: unknown[] = [];
  for (const call of vector.calls) results.push(await callOne(call));
  return results;
}

async function callForModel(runtime: Runtime, { tool, context, input }: VectorCall): Promise<unknown> {
  return withoutTableFields(await runtime.call(tool, input, callContext(context)));
}

/** What the runtime gives away of the answer of a tool for the host. */
const answersForHost: Readonly<Record<string, (runtime: Runtime, context: CallContext) => Promise<object>>> = {
  PromptIndex: async (runtime, context) => ({ text: await runtime.memoryIndex(context) }),
  ListEntries: async (runtime, context) => ({ entries: await runtime.memoryEntries(context) }),
};

/** Of what the runtime does not give away, a vector's words are taken as read. */
async function callForHost(runtime: Runtime, { tool, context, result }: VectorCall): Promise<unknown> {
  const callIt = answersForHost[tool];
  if (callIt === undefined) throw new Error(`Cannot replay a call of "${tool}": the runtime does not give it away`);
  try {
    const given = await callIt(runtime, callContext(context));
    return { ok: true, message: result["message"], data: { ...(result["data"] as object), ...given } };
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    return { ok: false, error: { code: error.code, message: error.message } };
  }
}

function callContext({ userId }: VectorCall["context"]): CallContext {
  return (userId === undefined ? {} : { userId }) as CallContext;
}

/** Replays every vector on the Node host with each of its stores, and what it alone must do besides. */
import { createRuntime } from "memcell";
import type { CallContext, Runtime, StoreDefinition, ToolResult } from "memcell";
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
    "it is about symbolic links": 22,
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
    return withoutTableFields(await answerOf(runtime, call));
  };
  if (vector.parallel) return await Promise.all(vector.calls.map(callOne));
  const results: unknown[] = [];
  for (const call of vector.calls) results.push(await callOne(call));
  return results;
}

function answerOf(runtime: Runtime, { tool, audience, context, input }: VectorCall): Promise<ToolResult> {
  const ctx = callContext(context);
  return audience === "host" ? runtime.callAsHost(tool, input, ctx) : runtime.call(tool, input, ctx);
}

function callContext({ userId }: VectorCall["context"]): CallContext {
  return (userId === undefined ? {} : { userId }) as CallContext;
}

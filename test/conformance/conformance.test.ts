/** Replays every vector on the Node host, and what it alone must do besides. */
import { createRuntime } from "memcell";
import type { CallContext, Runtime, ToolResult } from "memcell";
import { afterAll, expect, test } from "vitest";

import { policyFor } from "../support/policy-for.ts";
import { skipWithReason } from "../support/skip-with-reason.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { diskLacks } from "./disk-abilities.ts";
import { withoutTableFields } from "./plain-result.ts";
import { expectedFiles, foundFiles, writeBefore } from "./vector-files.ts";
import { vectorPlugin } from "./vector-plugins.ts";
import { readVectors } from "./vector.ts";
import type { Vector, VectorCall } from "./vector.ts";

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());

test.for([...readVectors(), ...readVectors("node-vectors")])("$name", async ({ vector }, context) => {
  const lacking = vector.needs?.find((ability) => diskLacks(ability, folder.path));
  if (lacking) skipWithReason(context, `the disk has no ${lacking}`);
  const dataDir = `${folder.path}/${context.task.id}`;
  writeBefore(dataDir, vector);
  const results = await replay(dataDir, vector);
  expect(results).toEqual(vector.calls.map(({ result }) => result));
  expect(foundFiles(dataDir)).toEqual(expectedFiles(vector));
});

async function replay(dataDir: string, vector: Vector): Promise<unknown[]> {
  let epochMs = 0;
  const plugins = [vectorPlugin(vector.plugin ?? "user-memory", folder.path)];
  const options = { dataDir, plugins, policy: policyFor(plugins), threadsMax: 2, ...vector.limits };
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

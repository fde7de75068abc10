import { createRuntime } from "memcell";
import type { CallContext, Runtime, ToolResult } from "memcell";
import { afterAll, expect, test } from "vitest";

import { userFolderName } from "../../host/store/files/user-folder-name.ts";
import type { UserId } from "../../host/user-id.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { readUserFiles, userFolderNames, writeUserFiles } from "../support/user-files.ts";
import { readVectors } from "./vector.ts";
import type { Vector, VectorCall } from "./vector.ts";

const dataFolders = temporaryFolder();
afterAll(() => dataFolders[Symbol.dispose]());

test.for(readVectors())("$name", async ({ vector }, { task }) => {
  const dataDir = `${dataFolders.path}/${task.id}`;
  writeUserFiles(dataDir, vector.before, vector.links);
  const results = await replay(dataDir, vector);
  expect(results).toEqual(vector.calls.map(({ result }) => result));
  expectFiles(dataDir, vector);
});

async function replay(dataDir: string, vector: Vector): Promise<unknown[]> {
  let epochMs = 0;
  await using runtime = await createRuntime({ dataDir, threadsMax: 2, clock: () => epochMs });
  const callOne = async (call: VectorCall): Promise<unknown> => {
    epochMs = call.context.epochMs;
    return withoutTableFields(await callTool(runtime, call));
  };
  if (vector.parallel) return await Promise.all(vector.calls.map(callOne));
  const results: unknown[] = [];
  for (const call of vector.calls) results.push(await callOne(call));
  return results;
}

function callTool(runtime: Runtime, { tool, context, input }: VectorCall): Promise<ToolResult> {
  const { userId } = context;
  return runtime.call(tool, input, (userId === undefined ? {} : { userId }) as CallContext);
}

/** `blame` and `retryable` follow from the code; a vector does not repeat the table. */
function withoutTableFields(result: ToolResult): unknown {
  if (result.ok) return result;
  const { blame: _blame, retryable: _retryable, ...error } = result.error;
  return { ok: false, error };
}

function expectFiles(dataDir: string, vector: Vector): void {
  const users = Object.keys(vector.after);
  expect(userFolderNames(dataDir)).toEqual(users.map((userId) => userFolderName(userId as UserId)).toSorted());
  for (const userId of users) expect(readUserFiles(dataDir, userId)).toEqual(vector.after[userId]);
}

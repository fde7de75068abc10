/**
 * One of two processes that append to one run and are killed at any instant: the real runtime. Each line that it reads
 * is an append to make at once; each line that it prints after "ready" is an answer. It ends when its input ends.
 */
import { writeSync } from "node:fs";
import { createInterface } from "node:readline";

import type { ToolResult } from "../../stage/store.ts";
import { createRuntime } from "../host-under-test.ts";
import { appendIdOf, batchOf } from "./batch.ts";
import type { Append } from "./batch.ts";
import { sharedRun } from "./stored-run.ts";

export interface Answer {
  readonly append: Append;
  readonly result: ToolResult;
}

const [dataDir = ""] = process.argv.slice(2);
const runtime = await createRuntime({ dataDir, plugins: ["run-history"], threadsMax: 1 });
const appends = createInterface({ input: process.stdin });
appends.on("line", (line) => void make(JSON.parse(line) as Append));
appends.once("close", () => void runtime.close());
writeSync(1, "ready\n");

async function make(append: Append): Promise<void> {
  const { userId, ...ids } = sharedRun;
  const input = { ...ids, appendId: appendIdOf(append), events: batchOf(append) };
  const answer: Answer = { append, result: await runtime.callAsHost("AppendRunEvents", input, { userId }) };
  writeSync(1, `${JSON.stringify(answer)}\n`);
}

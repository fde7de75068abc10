/** A process that makes a call, prints "ready", and makes another call on request; a test kills it during that call. */
import { createInterface } from "node:readline/promises";

import { createRuntime } from "memcell";

const [dataDir = "", file = ""] = process.argv.slice(2);
const runtime = await createRuntime({ dataDir, auditLog: { file }, threadsMax: 1 });

async function upsert(name: string, callId: string): Promise<void> {
  const input = { action: "upsert", name, type: "user", description: "d", body: "b" };
  const result = await runtime.call("UpdateUserMemory", input, { userId: "alice", callId });
  if (!result.ok) throw new Error(result.error.message);
}

await upsert("a", "first");
process.stdout.write("ready\n");
const lines = createInterface(process.stdin);
await lines[Symbol.asyncIterator]().next();
await upsert("b", "second");
process.stdout.write("acknowledged\n");
process.exit(0);

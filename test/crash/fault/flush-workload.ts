/**
 * Calls of the real runtime, with a mark in strace's log before and after each: the process looks up a missing folder
 * whose name is the mark.
 */
import { existsSync } from "node:fs";

import { createRuntime } from "../host-under-test.ts";

const [dataDir = "", durability = "full"] = process.argv.slice(2) as [string?, ("full" | "relaxed")?];

/** Looks up a file, which strace records. */
const mark = (text: string): boolean => existsSync(`/mark: ${text}/`);

const runtime = await createRuntime({ dataDir, durability, threadsMax: 1 });

async function upsert(name: string, body: string): Promise<void> {
  const input = { action: "upsert", name, type: "user", description: "A fact", body };
  const result = await runtime.call("UpdateUserMemory", input, { userId: "alice" });
  if (!result.ok) throw new Error(result.error.message);
}

mark("first call");
await upsert("first", "of a new user");
mark("first call is acknowledged");
for (let count = 1; count <= 50; count++) {
  mark(`call ${count}`);
  await upsert(`e${count % 5}`, `${count}`);
  mark(`call ${count} is acknowledged`);
}
mark("retirement");
await runtime.close();
mark("the end");

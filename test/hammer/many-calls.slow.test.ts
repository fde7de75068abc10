/** Many calls on one thread, one after another. */
import { createRuntime } from "memcell";
import { expect, test } from "vitest";

import { temporaryFolder } from "../support/temporary-folder.ts";

test("20,000 calls on one thread all succeed without growing memory", { timeout: 600_000 }, async () => {
  using folder = temporaryFolder();
  await using runtime = await createRuntime({ dataDir: folder.path, threadsMax: 1 });
  const upsert = { action: "upsert", name: "x", type: "user", description: "d", body: "y".repeat(1000) };
  await runtime.call("UpdateUserMemory", upsert, { userId: "alice" });
  const residentMb: number[] = [];
  for (let count = 1; count <= 20_000; count++) {
    const result = await runtime.call("ReadUserMemory", { name: "x" }, { userId: "alice" });
    if (!result.ok) throw new Error(`Call ${count}: ${result.error.message}`);
    if (count % 1000 === 0) residentMb.push(process.memoryUsage().rss / 1e6);
  }
  const [first, last] = [mean(residentMb.slice(5, 10)), mean(residentMb.slice(-5))];
  console.log(`resident memory: ${first.toFixed(0)} MB after 5,000–10,000 calls, ${last.toFixed(0)} MB at the end`);
  // The garbage collector can keep some instances of 2 MB. A leak of one per call would be 20 GB.
  expect(last - first).toBeLessThan(150);
});

const mean = (part: number[]): number => part.reduce((sum, each) => sum + each, 0) / part.length;

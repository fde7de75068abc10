/** Upserts one entry as often as the second argument says, in a folder that the first names. */
import { createRuntime } from "../../host/index.ts";

const [dataDir = "", count] = process.argv.slice(2);
await using runtime = await createRuntime({ dataDir, threadsMax: 1 });
for (let at = 0; at < Number(count); at++) {
  const input = { action: "upsert", name: "a", type: "user", description: "d", body: `${at}` };
  const result = await runtime.call("UpdateUserMemory", input, { userId: "alice" });
  if (!result.ok) throw new Error(result.error.message);
}

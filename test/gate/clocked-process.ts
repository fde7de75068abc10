/** A process whose clock shows a time of its own: a write waits, and a run reads. */
import { createRuntime } from "memcell";

const [dataDir = "", userId = "", nowMs = ""] = process.argv.slice(2);
const web = { userId, origin: { class: "tool_external", run: `web-${nowMs}` } } as const;
const reader = { userId, origin: { class: "direct_user", run: `reader-${nowMs}` } } as const;

await using runtime = await createRuntime({ dataDir, clock: () => Number(nowMs) });
const entry = { action: "upsert", name: "other", type: "user", description: "d", body: nowMs };
await runtime.call("UpdateUserMemory", entry, web);
await runtime.call("ReadUserMemory", { name: "page" }, reader);

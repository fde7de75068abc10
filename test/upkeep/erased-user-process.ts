/** A process that calls tools for Alice without a pause, and reports the names that it has written, and every failure. */
import { openAll } from "./four-families.ts";

const ctx = { userId: "alice" };
const runtime = await openAll(process.argv[2] ?? "");
const faults: string[] = [];
let isOver = false;
process.on("message", () => (isOver = true));

async function writeBoth(name: string): Promise<void> {
  const entry = { action: "upsert", name, type: "user", description: "d", body: name };
  const create = { command: "create", path: `/memories/${name}`, content: name };
  const results = [await runtime.call("UpdateUserMemory", entry, ctx), await runtime.callAsHost("memory", create, ctx)];
  for (const result of results) if (!result.ok) faults.push(`${result.error.code}: ${result.error.message}`);
  process.send?.({ written: name });
}

// oxlint-disable-next-line no-unmodified-loop-condition -- a message ends it
for (let at = 0; !isOver; at++) await writeBoth(`n${at}`);
await writeBoth("last");
await runtime.close();
process.send?.({ faults }, () => process.disconnect());

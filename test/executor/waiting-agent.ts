/** Plays a movement until its second turn, says so, and then waits to be killed. */
import { createRuntime } from "memcell";

import type { Model } from "./messages.ts";
import { playMovement } from "./movement.ts";
import { upsert } from "./scripted-model.ts";
import { movementNamed } from "./theatre.ts";

const [dataDir = ""] = process.argv.slice(2);
const runtime = await createRuntime({ dataDir, plugins: ["run-history", "user-memory"], threadsMax: 1 });
const model: Model = async ({ messages }) => {
  if (messages.length === 1) return { text: "I note it.", toolUses: [upsert("call_1", "seat", "sits at the window")] };
  process.stdout.write("waiting\n");
  return await new Promise(() => setInterval(() => null, 60_000));
};
await playMovement({ runtime, model }, movementNamed("1"), { userId: "alice" });

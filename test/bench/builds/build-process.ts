/** A process that runs one build. Arguments: the build's folder, and the data folder. */
import { entryName, upsertInput } from "../entry.ts";
import { buildRuntime } from "./build-runtime.ts";
import { entriesCount, isRead, measuredCalls, usersOf } from "./work.ts";
import type { Asked, Kind } from "./work.ts";

const [, , build = "", dataDir = ""] = process.argv;

const runtime = await buildRuntime(build, dataDir);
const turns = new Map<string, number>();

/** Each kind has users of its own, so that each call begins with what its kind has left. */
async function call(kind: Kind, user: number): Promise<void> {
  const userId = `${usersOf(kind)}-${user}`;
  const turn = turns.get(`${kind} ${user}`) ?? 0;
  turns.set(`${kind} ${user}`, turn + 1);
  const at = turn % entriesCount;
  const result = isRead(kind)
    ? await runtime.call("ReadUserMemory", { name: entryName(at) }, { userId })
    : await runtime.call("UpdateUserMemory", upsertInput(at, Math.floor(turn / entriesCount)), { userId });
  if (!result.ok) throw new Error(result.error.message);
}

for (const kind of ["an upsert", "upserts of 8 users"] as const) {
  for (let entry = 0; entry < entriesCount; entry++) {
    for (let user = 0; user < usersOf(kind); user++) await call(kind, user);
  }
}

// Also when the parent has failed.
process.on("disconnect", () => void runtime.close());
process.on("message", async (asked: Asked | "end") => {
  if (asked === "end") return process.disconnect();
  const { kind, windowMs } = asked;
  process.send?.(await measuredCalls(usersOf(kind), windowMs, (user) => call(kind, user)));
});
process.send?.("ready");

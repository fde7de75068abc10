/** A process in which a build makes 1,000 upserts for one user. Arguments: the build's folder, and the data folder. */
import { entryName, upsertInput } from "../entry.ts";
import { buildRuntime } from "./build-runtime.ts";
import { entriesCount } from "./work.ts";

const upserts = 1_000;

const [, , build = "", dataDir = ""] = process.argv;
await using runtime = await buildRuntime(build, dataDir);

for (let turn = 0; turn < upserts; turn++) {
  const at = turn % entriesCount;
  const input = upsertInput(at, Math.floor(turn / entriesCount));
  const result = await runtime.call("UpdateUserMemory", input, { userId: "filled" });
  if (!result.ok) throw new Error(`${entryName(at)}: ${result.error.message}`);
}

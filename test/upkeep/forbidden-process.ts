/** Takes the permissions of some names in a user's folder away, each in a data folder of its own, and looks after it. */
import { chmodSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";

import { createRuntime } from "memcell";

const [folder = "", ...names] = process.argv.slice(2);
const alice = { userId: "alice" };
const entry = { action: "upsert", name: "a", type: "user", description: "d", body: "x" };

async function lookAfter(dataDir: string, name: string): Promise<object> {
  {
    await using runtime = await createRuntime({ dataDir, threadsMax: 1 });
    await runtime.call("UpdateUserMemory", entry, alice);
  }
  const users = join(dataDir, "users");
  const home = join(users, readdirSync(users)[0] ?? "");
  for (const each of ["memory/sub", "memory/trash"]) mkdirSync(join(home, each), { recursive: true });
  chmodSync(join(home, name), 0);
  await using runtime = await createRuntime({ dataDir, threadsMax: 1 });
  const found = await runtime.upkeep.inspect(alice);
  const exported = await runtime.upkeep.export(alice).then(
    ({ files, leftOut }) => ({ files: files.length, leftOut: leftOut.map(({ path }) => path) }),
    ({ code }: { code: string }) => code,
  );
  chmodSync(join(home, name), 0o700);
  return { found: found.map(({ problem, path }) => `${problem} ${path}`), exported };
}

const seen: Record<string, object> = {};
for (const [at, name] of names.entries()) seen[name] = await lookAfter(join(folder, String(at)), name);
process.stdout.write(JSON.stringify(seen));

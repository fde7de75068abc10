/** Takes permissions of some names in a user's folder away, each in a data folder of its own, and erases the user. */
import { chmodSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { createRuntime } from "memcell";

const [folder = "", ...cases] = process.argv.slice(2);
const alice = { userId: "alice" };
const entry = { action: "upsert", name: "a", type: "user", description: "d", body: "x" };

/** `name`, and its new permissions in octal digits. */
async function erase(dataDir: string, [name = "", mode = ""]: readonly string[]): Promise<object> {
  const home = join(dataDir, "users/alice");
  {
    await using runtime = await createRuntime({ dataDir, plugins: ["user-memory"], threadsMax: 1 });
    await runtime.call("UpdateUserMemory", entry, alice);
  }
  mkdirSync(join(home, "memory/sub"));
  writeFileSync(join(home, "memory/sub/secret.md"), "secret");
  chmodSync(join(home, name), Number.parseInt(mode, 8));
  await using runtime = await createRuntime({ dataDir, plugins: ["user-memory"], threadsMax: 1 });
  const closed = await runtime.upkeep.planErase(alice).then(
    (plan) => plan.closed.map(({ path, reason }) => `${path}: ${reason}`),
    ({ code }: { code: string }) => code,
  );
  const outcome = await runtime.upkeep.erase(alice).then(
    ({ left }) => left.map(({ path, reason }) => `${path.split("/").slice(2).join("/")}: ${reason}`),
    ({ code }: { code: string }) => code,
  );
  const users = readdirSync(join(dataDir, "users")).map((each) => (each.startsWith(".erased.") ? "left" : each));
  const again = await runtime.call("ReadUserMemory", { name: "a" }, alice);
  for (const each of readdirSync(join(dataDir, "users"))) {
    if (name !== "") chmodSync(join(dataDir, "users", each, name), 0o700);
    else chmodSync(join(dataDir, "users", each), 0o700);
  }
  const mended = await runtime.upkeep.mendStrays();
  return { closed, outcome, users, found: again.ok ? "all" : again.error.code, mended: mended.length };
}

const seen: Record<string, object> = {};
for (const [at, each] of cases.entries()) seen[each] = await erase(join(folder, String(at)), each.split(" "));
process.stdout.write(JSON.stringify(seen));

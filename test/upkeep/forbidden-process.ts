/**
 * Takes permissions of some names in a user's folder away, each in a data folder of its own, and looks after the user:
 * inspects and exports, then erases.
 */
import { chmodSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { createRuntime } from "memcell";

const [folder = "", ...cases] = process.argv.slice(2);
const alice = { userId: "alice" };
const entry = { action: "upsert", name: "a", type: "user", description: "d", body: "x" };

const codeOf = ({ code }: { code: string }): string => code;

/** `name`, and its new permissions in octal digits. */
async function lookAfter(dataDir: string, [name = "", mode = ""]: readonly string[]): Promise<object> {
  const options = { dataDir, plugins: ["user-memory"], threadsMax: 1 };
  const users = join(dataDir, "users");
  const home = join(users, "alice");
  {
    await using runtime = await createRuntime(options);
    await runtime.call("UpdateUserMemory", entry, alice);
  }
  for (const each of ["memory/sub", "memory/trash"]) mkdirSync(join(home, each));
  writeFileSync(join(home, "memory/sub/secret.md"), "secret");
  chmodSync(join(home, name), Number.parseInt(mode, 8));
  await using runtime = await createRuntime(options);
  const { upkeep } = runtime;
  const found = await upkeep
    .inspect(alice)
    .then(
      (all) => all.map(({ problem, path }) => `${problem} ${path}`).filter((each) => !each.includes("secret.md")),
      codeOf,
    );
  const exported = await upkeep
    .export(alice)
    .then(({ files, leftOut }) => ({ files: files.length, leftOut: leftOut.map(({ path }) => path) }), codeOf);
  const closed = await upkeep
    .planErase(alice)
    .then((plan) => plan.closed.map(({ path, reason }) => `${path}: ${reason}`), codeOf);
  const left = await upkeep
    .erase(alice)
    .then((done) => done.left.map(({ path, reason }) => `${path.split("/").slice(2).join("/")}: ${reason}`), codeOf);
  const remaining = readdirSync(users).map((each) => (each.startsWith(".erased.") ? "left" : each));
  const again = await runtime.call("ReadUserMemory", { name: "a" }, alice);
  for (const each of readdirSync(users)) chmodSync(join(users, each, name), 0o700);
  const mended = await upkeep.mendStrays();
  const read = again.ok ? "all" : again.error.code;
  return { found, exported, closed, left, users: remaining, read, mended: mended.length };
}

const seen: Record<string, object> = {};
for (const [at, each] of cases.entries()) seen[each] = await lookAfter(join(folder, String(at)), each.split(" "));
process.stdout.write(JSON.stringify(seen));

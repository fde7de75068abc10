/** A listener for changes that blocks its process: nothing is held meanwhile that another process needs. */
import { spawnSync } from "node:child_process";

import { createRuntime, storeIdOf } from "memcell";
import { expect, test } from "vitest";

import { temporaryFolder } from "../support/temporary-folder.ts";

test("a listener that blocks its process keeps a shared store from no other process", async () => {
  using folder = temporaryFolder();
  const script = `import { createRuntime, storeIdOf } from "memcell";
    const runtime = await createRuntime({ dataDir: ${JSON.stringify(folder.path)}, plugins: ["stores"], waitMs: 5_000 });
    const input = { command: "create", path: "/memories/b", content: "x" };
    const result = await runtime.callAsHost("memory", input, { userId: "owner" });
    await runtime.close();
    console.log(result.ok ? "written" : result.error.code);`;
  await using runtime = await createRuntime({ dataDir: folder.path, plugins: ["stores"] });
  await runtime.stores({ userId: "owner" }).grant("grantee", { level: "readwrite" });
  const told: string[] = [];
  runtime.onChange(({ userId }) => {
    const run = spawnSync(process.execPath, ["--input-type=module", "-e", script], { encoding: "utf8" });
    told.push(userId, run.stdout.trim());
  });
  const path = `/memories/shared/${storeIdOf("owner")}/a`;
  const input = { command: "create", path, content: "x" };
  expect(await runtime.callAsHost("memory", input, { userId: "grantee" })).toMatchObject({ ok: true });
  expect(told).toEqual(["grantee", "written"]);
});

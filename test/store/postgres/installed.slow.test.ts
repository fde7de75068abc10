/** The distribution's own PostgreSQL, which is older, does what the tests' newer one does. */
import { createRuntime, postgresStore } from "memcell";
import { expect, test } from "vitest";

import { memcell } from "../../stage/command.ts";
import { prepareDatabase } from "../../support/postgres/fresh-database.ts";
import { startPostgres } from "../../support/postgres/postgres-server.ts";
import { installedPrograms } from "../../support/postgres/programs.ts";
import { skipWithReason } from "../../support/skip-with-reason.ts";

test("calls, trash, history, grants and an erasure", async (context) => {
  if (installedPrograms() === null) skipWithReason(context, "no PostgreSQL of the system is installed");
  await using server = await startPostgres({ version: "installed" });
  const url = await prepareDatabase(server, "memory");
  expect(await memcell(["db", "check", "--store", url])).toMatchObject({
    status: 0,
    stdout: "OK: schema and role are correct\n",
  });
  const plugins = ["user-memory", "stores"];
  await using runtime = await createRuntime({ store: postgresStore({ url }), plugins, threadsMax: 1 });
  const ctx = { userId: "alice" };
  for (const body of ["one", "two"]) {
    const input = { action: "upsert", type: "user", name: "a", description: "d", body };
    expect(await runtime.call("UpdateUserMemory", input, ctx)).toMatchObject({ ok: true });
  }
  expect(await runtime.call("ReadUserMemory", { name: "a" }, ctx)).toMatchObject({ ok: true });
  expect(await runtime.call("UpdateUserMemory", { action: "delete", name: "a" }, ctx)).toMatchObject({ ok: true });
  await runtime.upkeep.restore(ctx, "a");
  expect((await runtime.upkeep.history(ctx)).filter(({ path }) => path === "a.md")).toHaveLength(4);
  await runtime.stores(ctx).grant("bob", { level: "read" });
  expect(await runtime.stores({ userId: "bob" }).list()).toMatchObject([{ source: "self" }, { source: "grant" }]);
  await runtime.upkeep.erase(ctx);
  expect(await runtime.stores({ userId: "bob" }).list()).toMatchObject([{ source: "self" }]);
  expect(await runtime.upkeep.history(ctx)).toEqual([]);
});

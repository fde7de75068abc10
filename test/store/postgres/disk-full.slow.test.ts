/** The disk of the server fills up: calls are refused, none is lost, and all is well when there is room again. */
import { createHash } from "node:crypto";
import { appendFileSync, rmSync, statSync, truncateSync } from "node:fs";
import { dirname, join } from "node:path";

import { postgresStore } from "memcell";
import type pg from "pg";
import { expect, test } from "vitest";

import type { Store } from "../../stage/store.ts";
import { loopDisk } from "../../support/loop-disk.ts";
import { openToServer } from "../../support/postgres/server-user.ts";
import { skipWithReason } from "../../support/skip-with-reason.ts";
import { commit, errorOf, faultServer, shown, unfit } from "./fault-stage.ts";

/** Contents that do not compress, each another one. */
function noise(number: number): string {
  const parts = Array.from({ length: 2_000 }, (_, part) =>
    createHash("sha256").update(`${number}/${part}`).digest("hex"),
  );
  return parts.join("");
}

function fill(file: string): void {
  for (let bytes = 1 << 20; bytes >= 4_096; bytes >>= 1) {
    try {
      for (;;) appendFileSync(file, Buffer.alloc(bytes));
    } catch (error) {
      expect(error).toMatchObject({ code: "ENOSPC" });
    }
  }
}

/** Makes calls until five have failed, and makes room again. Returns the errors. */
async function failures(store: Store, ballast: string): Promise<{ made: number; errors: unknown[] }> {
  let made = 0;
  const errors: unknown[] = [];
  for (let call = 1; errors.length < 5; call++) {
    const error = await errorOf(commit(store, noise(call)));
    if (error === null) made = call;
    else errors.push(error);
  }
  rmSync(ballast);
  return { made, errors };
}

/** Leaves the server no file of its log that has room. */
async function useUpLog(admin: pg.Client): Promise<void> {
  const more =
    "SELECT FROM pg_ls_waldir() WHERE name > pg_walfile_name(pg_current_wal_insert_lsn()) AND name ~ '^[0-9A-F]+$'";
  for (;;) {
    const { rowCount } = await admin.query(more);
    await admin.query("SELECT pg_logical_emit_message(true, '', '')");
    await admin.query("SELECT pg_switch_wal()");
    if (rowCount === 0) return;
  }
}

/** Without room for its log the server ends itself, and cannot start before there is room. */
test.for(["tables", "log"] as const)("no room for the %s", { timeout: 180_000 }, async (full, context) => {
  using disk = await diskOrSkip(context);
  await using server = await faultServer({ above: disk.path, settings: { wal_recycle: "off" } });
  const store = postgresStore({ url: server.host }).open(() => {});
  await commit(store, noise(0));
  const admin = await server.connect();
  await admin.query("CHECKPOINT");
  const ballast = join(disk.path, "ballast");
  fill(ballast);
  if (full === "log") {
    truncateSync(ballast, statSync(ballast).size - (8 << 20));
    await useUpLog(admin);
  }
  const { made, errors } = await failures(store, ballast);
  const hasEnded = server.logText().includes("PANIC");
  await server.stop("immediate");
  await server.start();
  console.log(`${made} calls made, then: ${errors.map((error) => (error as { code?: string }).code).join()}`);
  expect(errors.flatMap((error) => unfit(error) ?? [])).toEqual([]);
  expect(hasEnded).toBe(full === "log");
  if (full === "tables") expect(errors[0]).toMatchObject({ code: "STORAGE_FULL" });
  const found = await shown(store);
  expect(found.a).toBe(found.b);
  expect(found.a).toBe(noise(made));
  await commit(store, "there is room");
  expect(await shown(store)).toEqual({ versions: found.versions + 1, a: "there is room", b: "there is room" });
  await store.close();
});

async function diskOrSkip(
  context: Parameters<typeof skipWithReason>[0],
): Promise<Exclude<Awaited<ReturnType<typeof loopDisk>>, string>> {
  const disk = await loopDisk("ext4", { bytes: 192 << 20 });
  if (typeof disk === "string") skipWithReason(context, disk);
  openToServer(dirname(disk.path));
  return disk;
}

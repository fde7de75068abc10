/** The disk of the server fills up: calls are refused, none is lost, and all is well when there is room again. */
import { createHash } from "node:crypto";
import { appendFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";

import { postgresStore } from "memcell";
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

test("a full disk refuses calls with STORAGE_FULL", { timeout: 180_000 }, async (context) => {
  using disk = await diskOrSkip(context);
  await using server = await faultServer({ above: disk.path, settings: { wal_recycle: "off" } });
  const store = postgresStore({ url: server.host }).open(() => {});
  await commit(store, noise(0));
  await server.run("CHECKPOINT");
  const ballast = join(disk.path, "ballast");
  fill(ballast);
  const { made, errors } = await failures(store, ballast);
  await server.stop("immediate");
  await server.start();
  console.log(`${made} calls made, then: ${errors.map((error) => (error as { code?: string }).code).join()}`);
  expect(errors.flatMap((error) => unfit(error) ?? [])).toEqual([]);
  expect(errors[0]).toMatchObject({ code: "STORAGE_FULL" });
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

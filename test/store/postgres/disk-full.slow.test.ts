/** The disk of the server fills up: calls are refused, none is lost, and all is well when there is room again. */
import { createHash } from "node:crypto";
import { rmSync } from "node:fs";
import { dirname, join } from "node:path";

import { expect, test } from "vitest";

import { diskOr, fillUp } from "../../crash/small-disk-store.ts";
import { openPostgres } from "../../stage/open-store.ts";
import { openToServer } from "../../support/postgres/server-user.ts";
import { commit, errorOf, faultServer, shown, unfit } from "./fault-stage.ts";

/** Contents that do not compress, each another one. */
function noise(number: number): string {
  const parts = Array.from({ length: 2_000 }, (_, part) =>
    createHash("sha256").update(`${number}/${part}`).digest("hex"),
  );
  return parts.join("");
}

test("a full disk refuses calls with STORAGE_FULL", { timeout: 180_000 }, async (context) => {
  using disk = await diskOr(context, "ext4", { bytes: 192 << 20 });
  openToServer(dirname(disk.path));
  await using server = await faultServer({ above: disk.path, settings: { wal_recycle: "off" } });
  const store = openPostgres({ url: server.host });
  await commit(store, noise(0));
  await server.run("CHECKPOINT");
  const ballast = join(disk.path, "ballast");
  fillUp(ballast);
  let made = 0;
  const errors: unknown[] = [];
  for (let call = 1; errors.length < 5; call++) {
    const error = await errorOf(commit(store, noise(call)));
    if (error === null) made = call;
    else errors.push(error);
  }
  rmSync(ballast);
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

/** A store that is erased and made anew can have a WAL with the inode of the one that was read, and with as many records. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { ownStoreOf } from "../stage/store.ts";
import type { UserId } from "../stage/store.ts";
import { textOf, writeIn } from "./store-files.ts";
import { StoreStage } from "./store-stage.ts";

const alice = "alice" as UserId;
const own = ownStoreOf(alice);

async function filled(text: string): Promise<StoreStage> {
  const stage = await StoreStage.open("fileStore");
  await stage.commitStores([writeIn(own, "a.md", text)], { by: alice });
  return stage;
}

test("who reads it without a lock reads again", async () => {
  await using stage = await filled("4444");
  await using anew = await filled("anew");
  const runs: (string | null)[] = [];
  await stage.holdStores(
    [own],
    async (held) => {
      runs.push(await textOf(held, own, "a.md"));
      for (const file of ["entries/a.md", ".memcell/journal"]) {
        const place = join("stores", own, file);
        writeFileSync(join(stage.dataDir, place), readFileSync(join(anew.dataDir, place)));
      }
    },
    { writes: false },
  );
  expect(runs).toEqual(["4444", "anew"]);
});

/** A data folder goes into a database and back, and everything is as it was. */
import { join } from "node:path";

import { createRuntime, fileStore, postgresStore } from "memcell";
import { afterAll, beforeAll, expect, test } from "vitest";

import { freshDatabase } from "../support/postgres/fresh-database.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { shippedNames } from "../support/test-plugin.ts";
import { fillFolder, users, waiting } from "./filled-folder.ts";
import { copy } from "./memcell-copy.ts";
import { stateOf, treeOf } from "./stored-state.ts";

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());
const [data, back] = [join(folder.path, "data"), join(folder.path, "back")];
let url = "";

beforeAll(async () => {
  await fillFolder(data);
  url = await freshDatabase();
});

test("everything is in the database, and a second run finds nothing to do", async () => {
  const before = treeOf(data);
  const first = copy(data, url);
  expect(first).toEqual({
    status: 0,
    stdout: expect.stringMatching(/^\d+ homes copied, \d+ bytes; 0 already there; 0 listed\n$/),
  });
  expect(treeOf(data)).toEqual(before);
  expect(copy(data, url)).toEqual({
    status: 0,
    stdout: expect.stringMatching(/^0 homes copied, 0 bytes; \d+ already there; 0 listed\n$/),
  });
  const [inFiles, inDatabase] = [await stateOf(fileStore({ dir: data })), await stateOf(postgresStore({ url }))];
  expect(Object.keys(inFiles)).toEqual(expect.arrayContaining([...users, "by.hand", waiting]));
  expect(inDatabase).toEqual(inFiles);
});

test("back in another folder, everything is byte for byte as it was", async () => {
  expect(copy(url, back)).toMatchObject({ status: 0 });
  expect(treeOf(back)).toEqual(treeOf(data));
  expect(await stateOf(fileStore({ dir: back }))).toEqual(await stateOf(fileStore({ dir: data })));
  const findings = await findingsIn(data);
  expect(await findingsIn(back)).toEqual(findings);
});

async function findingsIn(dataDir: string): Promise<unknown> {
  await using runtime = await createRuntime({ dataDir, plugins: shippedNames(), threadsMax: 1 });
  const { upkeep } = runtime;
  const ofUsers = (await upkeep.users()).toSorted().map(async (userId) => [userId, await upkeep.inspect({ userId })]);
  return [await upkeep.strays(), await Promise.all(ofUsers)];
}

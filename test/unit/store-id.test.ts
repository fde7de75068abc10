/** The ids of shared stores, and of principals' own stores. */
import { storeIdOf } from "memcell";
import { expect, test } from "vitest";

import { isStoreId, scopeOfStore, storeOfScope } from "../stage/store.ts";
import type { StoreId } from "../stage/store.ts";

const uuid = "9b2c0f6e-1d3a-4e5f-8a7b-0c1d2e3f4a5b";
const others = ["ffffffff-ffff-ffff-ffff-ffffffffffff", "00000000-0000-0000-0000-000000000001"];
const nil = "00000000-0000-0000-0000-000000000000";
const bent = [uuid.toUpperCase(), `{${uuid}}`, `urn:uuid:${uuid}`, uuid.replaceAll("-", ""), `${uuid} `, `${uuid}\n`];
const cut = [
  ` ${uuid}`,
  uuid.slice(1),
  `${uuid}0`,
  `../${uuid}`,
  uuid.replace("9b2c", "9b2g"),
  uuid.replace("9", "９"),
];

test("a UUID in lower case is a store's id and the name of its scope, and no other text is", () => {
  expect([uuid, ...others].filter((text) => !isStoreId(text))).toEqual([]);
  expect(["", nil, ...bent, ...cut].filter(isStoreId)).toEqual([]);
  expect(["", nil, ...bent, ...cut].filter((text) => storeOfScope(`store:${text}`) !== null)).toEqual([]);
  expect(scopeOfStore(uuid as StoreId)).toBe(`store:${uuid}`);
  expect(storeOfScope(`store:${uuid}`)).toBe(uuid);
  const scopes = ["memory", uuid, `stores:${uuid}`, `STORE:${uuid}`, `store:${uuid}/`, `store: ${uuid}`];
  expect(scopes.filter((scope) => storeOfScope(scope) !== null)).toEqual([]);
});

/** Existing folders have these names. */
test.for([
  [uuid, uuid],
  ["018f6b1e-7c2d-7abc-9def-0123456789ab", "018f6b1e-7c2d-7abc-9def-0123456789ab"],
  ["alice", "0182ba10-9272-8f5e-b52f-73809b6d8f24"],
  ["Ünïcode.", "1acf15ea-321d-8616-bb94-2e996f4c32bf"],
  [uuid.toUpperCase(), "fb1339d7-4548-861b-999b-dc40b381916f"],
  ["0f1e2d3c-4b5a-8697-8877-665544332211", "dd8ba183-1b37-87a2-82c1-7d21f806f6c8"],
  [nil, "6a14dd3b-9c47-8e86-89c5-73dcb576f17a"],
] as const)("the own store of %j stays the same", ([userId, expected]) => {
  expect(storeIdOf(userId)).toBe(expected);
});

test("nobody can choose the id that is another's own store", () => {
  const derived = Array.from({ length: 1_000 }, (_, at) => storeIdOf(`user-${at}`));
  expect(new Set([...derived, ...derived.map((id) => storeIdOf(id))]).size).toBe(2_000);
});

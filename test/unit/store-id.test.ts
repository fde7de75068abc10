/** The ids of shared stores, and of principals' own stores. */
import { expect, test } from "vitest";

import { isStoreId, ownStoreOf, scopeOfStore, storeOfScope } from "../stage/store.ts";
import type { UserId } from "../stage/store.ts";

const own = (userId: string): string => ownStoreOf(userId as UserId);
const uuid = "9b2c0f6e-1d3a-4e5f-8a7b-0c1d2e3f4a5b";

test.each([uuid, "ffffffff-ffff-ffff-ffff-ffffffffffff", "00000000-0000-0000-0000-000000000001"])(
  "%s is a store's id",
  (text) => expect(isStoreId(text)).toBe(true),
);

test.each([
  "",
  "00000000-0000-0000-0000-000000000000",
  uuid.toUpperCase(),
  `{${uuid}}`,
  `urn:uuid:${uuid}`,
  uuid.replaceAll("-", ""),
  `${uuid} `,
  `${uuid}\n`,
  ` ${uuid}`,
  uuid.slice(1),
  `${uuid}0`,
  `../${uuid}`,
  uuid.replace("9b2c", "9b2g"),
  uuid.replace("9b2c", "９b2c"),
])("%j is no store's id", (text) => {
  expect(isStoreId(text)).toBe(false);
  expect(storeOfScope(`store:${text}`)).toBeNull();
});

test.each([uuid, "018f6b1e-7c2d-7abc-9def-0123456789ab", "c232ab00-9414-11ec-b3c8-9f6bdeced846"])(
  "the own store of %s has that id",
  (userId) => expect(own(userId)).toBe(userId),
);

/** Existing folders have these names. */
test.each([
  ["alice", "0182ba10-9272-8f5e-b52f-73809b6d8f24"],
  ["Ünïcode.", "1acf15ea-321d-8616-bb94-2e996f4c32bf"],
  [uuid.toUpperCase(), "fb1339d7-4548-861b-999b-dc40b381916f"],
  ["0f1e2d3c-4b5a-8697-8877-665544332211", "dd8ba183-1b37-87a2-82c1-7d21f806f6c8"],
  ["00000000-0000-0000-0000-000000000000", "6a14dd3b-9c47-8e86-89c5-73dcb576f17a"],
])("the own store of %j has a derived id, which stays the same", (userId, expected) => {
  expect(own(userId)).toBe(expected);
  expect(own(userId)).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
});

test("nobody can choose the id that is another's own store", () => {
  expect(own(own("alice"))).not.toBe(own("alice"));
  const derived = Array.from({ length: 1_000 }, (_, at) => own(`user-${at}`));
  expect(new Set([...derived, ...derived.map(own)]).size).toBe(2_000);
});

test("a scope names a store, and no other text does", () => {
  expect(scopeOfStore(ownStoreOf(uuid as UserId))).toBe(`store:${uuid}`);
  expect(storeOfScope(`store:${uuid}`)).toBe(uuid);
  for (const scope of ["memory", uuid, `stores:${uuid}`, `STORE:${uuid}`, `store:${uuid}/`, `store: ${uuid}`]) {
    expect(storeOfScope(scope)).toBeNull();
  }
});

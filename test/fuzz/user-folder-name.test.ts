/**
 * The folder of a user id: no two ids share a folder on any kind of disk, and every disk accepts its name. The forms of
 * Unicode of an id are one id.
 */
import fc from "fast-check";
import { expect, test } from "vitest";

import { storeLimits } from "../../shared/limits.ts";
import { runs } from "../stage/random-runs.ts";
import { checkUserId, isUserId, userFolderName } from "../stage/store.ts";

const devices = "con prn aux nul com0 com1 com9 lpt0 lpt1 lpt9".split(" ");
const isDevice = (name: string): boolean => devices.includes((name.split(".")[0] ?? "").trimEnd().toLowerCase());

const words = 'CON Nul COM¹ a A b ß ss é e\u0301 İ ı K k ． ‥ 💥 . .. % %2e %2E %~ %25 ~ ~1 @ - _ : * ? " < > |'.split(
  " ",
);
/** Texts that make two names equal, or a name invalid, on some system. */
const pieces = [...devices, ...words, "\u212a", " ", "\u202e", "x".repeat(60), "é".repeat(30)];
const userId = fc
  .oneof(
    {
      weight: 3,
      arbitrary: fc.array(fc.constantFrom(...pieces), { minLength: 1, maxLength: 6 }).map((all) => all.join("")),
    },
    { weight: 1, arbitrary: fc.string({ unit: "binary", minLength: 1, maxLength: 40 }) },
  )
  .filter(isUserId);

/** Texts that differ from an id in one thing that some system ignores. */
const near = (text: string): fc.Arbitrary<string> =>
  fc
    .constantFrom(
      text.toUpperCase(),
      text.toLowerCase(),
      text.normalize("NFC"),
      text.normalize("NFD"),
      text.normalize("NFKC"),
      `${text}.`,
      `${text}%2E`,
      encodeURIComponent(text),
      userFolderName(checkUserId(text)),
      text.slice(0, -1),
    )
    .filter(isUserId);

test("a user's folder has a name that every system accepts, with the whole id unless it is too long", () => {
  fc.assert(
    fc.property(userId, (id) => {
      const name = userFolderName(checkUserId(id));
      expect(name).toMatch(/^[A-Za-z0-9._@%~-]+$/);
      expect(name).not.toMatch(/^\.|[. ]$/);
      expect(isDevice(name)).toBe(false);
      expect(name.length).toBeLessThanOrEqual(storeLimits.folderNameBytesMax);
      if (!name.includes("%~")) expect(decodeURIComponent(name)).toBe(id.normalize("NFC"));
    }),
    runs(2_000),
  );
});

test("two user ids never share a folder", () => {
  const pair = fc.oneof(
    fc.tuple(userId, userId),
    userId.chain((id) => fc.tuple(fc.constant(id), near(id))),
  );
  fc.assert(
    fc.property(pair, ([one, other]) => {
      const names = [one, other].map((id) => userFolderName(checkUserId(id)));
      expect(names[0] === names[1]).toBe(one.normalize("NFC") === other.normalize("NFC"));
    }),
    runs(2_000),
  );
});

/** Existing folders have these names. */
test.for([
  ["Alice@example.com", "Alice@example.com"],
  ["a b", "a%20b"],
  [".x.", "%2Ex%2E"],
  ["...", "%2E.%2E"],
  ["a%20b", "a%2520b"],
  ["é", "%C3%A9"],
  ["e\u0301", "%C3%A9"],
  ["😀", "%F0%9F%98%80"],
  ["a:b*c", "a%3Ab%2Ac"],
] as const)("the folder of %j is %s", ([id, name]) => expect(userFolderName(checkUserId(id))).toBe(name));

test("an id whose encoding is too long gets its hash", () => {
  const names = ["日".repeat(42), `${"日".repeat(41)}月`].map((id) => userFolderName(checkUserId(id)));
  expect(new Set(names).size).toBe(2);
  for (const name of names) expect(name).toMatch(/%~[0-9a-f]{64}$/);
});

/** The folder of a user id: no two ids share a folder on any kind of disk, and every disk accepts its name. */
import fc from "fast-check";
import { expect, test } from "vitest";

import { storeLimits } from "../../shared/limits.ts";
import { checkUserId, userFolderName } from "../stage/store.ts";

const devices = ["con", "prn", "aux", "nul", "com0", "com1", "com9", "lpt0", "lpt1", "lpt9"];
const isDevice = (name: string): boolean => devices.includes((name.split(".")[0] ?? "").trimEnd().toLowerCase());

/** Texts that make two names equal, or a name invalid, on some system. */
const pieces = [
  ...devices,
  "CON",
  "Nul",
  "COM¹",
  "a",
  "A",
  "b",
  "ß",
  "ss",
  "é",
  "e\u0301",
  "İ",
  "ı",
  "\u212a",
  "K",
  "k",
  "．",
  "‥",
  "💥",
  ".",
  "..",
  "%",
  "%2e",
  "%2E",
  "%~",
  "%25",
  "~",
  "~1",
  " ",
  "@",
  "-",
  "_",
  ":",
  "*",
  "?",
  '"',
  "<",
  ">",
  "|",
  "\u202e",
  "x".repeat(60),
  "é".repeat(30),
];
const isUserId = (text: string): boolean => {
  try {
    checkUserId(text);
    return true;
  } catch {
    return false;
  }
};
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

const options = { numRuns: 20_000 };

test("a user's folder has a name that every system accepts", () => {
  fc.assert(
    fc.property(userId, (id) => {
      const name = userFolderName(checkUserId(id));
      expect(name).toMatch(/^[A-Za-z0-9._@%~-]+$/);
      expect(name).not.toMatch(/^\.|[. ]$/);
      expect(isDevice(name)).toBe(false);
      expect(name.length).toBeLessThanOrEqual(storeLimits.folderNameBytesMax);
      expect(userFolderName(checkUserId(id))).toBe(name);
    }),
    options,
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
      expect(names[0] === names[1]).toBe(one === other);
    }),
    options,
  );
});

test("a folder's name contains the whole id unless the id is too long", () => {
  fc.assert(
    fc.property(userId, (id) => {
      const name = userFolderName(checkUserId(id));
      if (!name.includes("%~")) expect(decodeURIComponent(name)).toBe(id);
    }),
    options,
  );
});

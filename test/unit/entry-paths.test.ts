/** Where entries lie: each path that an entry can have says whose it is and what its key is, and no other path does. */
import { expect, test } from "vitest";

import { pathOf, placeOf } from "../../plugin/stores/key-path.ts";
import { seededRandom } from "../support/seeded-random.ts";

const store = "1661c313-4ad0-8843-866b-bc368d261bab";
const pieces = [
  "a",
  "Z",
  "9",
  "-",
  "_",
  ".",
  "/",
  ".md",
  "_.",
  "_.md",
  "_.2e",
  "_.2emd",
  "trash",
  "Trash",
  "con",
  "nul",
];
const more = ["com1", "lpt1", "prn", "aux", "..", "//", "é", " ", "notes", "\n", "%20", "_.in", "_.ns", "_.by", "_.x"];

test("placeOf is the inverse of pathOf", () => {
  const random = seededRandom(3);
  const piece = (): string => [...pieces, ...more][Math.floor(random() * (pieces.length + more.length))] ?? "";
  let places = 0;
  for (let run = 0; run < 60_000; run++) {
    const text = Array.from({ length: 1 + Math.floor(random() * 5) }, piece).join("");
    for (const path of [text, `${text}.md`]) {
      if (path.split("/").some((name) => ["", ".", ".."].includes(name))) continue;
      const place = placeOf(path, store);
      if (place === null || place.key === null || place.namespace === null) continue;
      places++;
      expect(pathOf({ ...place, key: place.key, namespace: place.namespace }, store)).toBe(path);
    }
  }
  expect(places).toBeGreaterThan(1_000);
});

test.each([
  "notes/a.md",
  "A-b_c.d.md",
  "a.b/c.md",
  "README.md",
  "x/trash.md",
  "Console.md",
  "a.md/b.md",
  "x_.md",
  "é.md",
])("the path of the key %j says that key", (key) => {
  const id = { owner: store, isInternal: false, namespace: "", key };
  expect(placeOf(pathOf(id, store), store)).toEqual(id);
});

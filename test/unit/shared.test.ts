/** What hosts and plugins share: paths, texts, derived files, and the tables that documents have of them. */
import { readFileSync } from "node:fs";

import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { pathOf, placeOf } from "../../plugin/stores/key-path.ts";
import { indexFolder } from "../../plugin/stores/store-index.ts";
import { indexPath } from "../../plugin/user-memory/entry-name.ts";
import { isDerived } from "../../shared/derived-files.ts";
import { decodedName, encodedName, isEncodedName } from "../../shared/encoded-name.ts";
import { errorTable } from "../../shared/errors.ts";
import { isScopePath, isScopePrefix } from "../../shared/path.ts";
import { codePoints, hasLoneSurrogate, quoted, utf8Bytes } from "../../shared/text.ts";
import { textOf } from "../documents/tracked-files.ts";
import { runs } from "../stage/random-runs.ts";
import { manifestOf } from "../support/reseal-plugin.ts";
import { shippedPlugin } from "../support/test-plugin.ts";

describe("isScopePath() and isScopePrefix()", () => {
  const fitting = [
    "a.md",
    "-",
    "_a",
    "2024/01/02.md",
    "a..b",
    "a.",
    "__proto__",
    "x".repeat(255),
    `${"%C3%A9".repeat(127)}x`,
  ];
  const climbing = ["", ".", "..", ".a", "a/", "/a", "a//b", "a/../b", "a/.b"];
  const odd = ["a b", "a\\b", "a\0", "a\n", "é", "a:b", "~", "x".repeat(256), "%C3%A9".repeat(128)];
  test("a path has names of letters, digits and marks, none of which is hidden or climbs", () => {
    expect([...fitting, ...climbing, ...odd].filter(isScopePath)).toEqual(fitting);
  });
  test("a prefix can end in a slash", () => {
    expect(["", "trash/", "a", "a/b"].filter((prefix) => !isScopePrefix(prefix))).toEqual([]);
    expect(["/", "..", "../", "a//"].filter(isScopePrefix)).toEqual([]);
  });
});

describe("encodedName()", () => {
  test("gives each name one path, from which the name comes back in the form NFC", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.string({ unit: "grapheme" }), (...names) => {
        for (const name of names) {
          const path = encodedName(name);
          if (path === null) continue;
          expect(path).toMatch(/^[A-Za-z0-9._%-]+$/);
          expect(isEncodedName(path)).toBe(true);
          expect(decodedName(path)).toBe(name.normalize("NFC"));
          expect(encodedName(name.normalize("NFD"))).toBe(path);
        }
      }),
      runs(1_000),
    );
  });
  test("is the only way to write a name, and no name climbs or has a separator or a control", () => {
    const piece = fc.constantFrom(..."% %2 %2E %2F %5C %00 %C3%BC %c3 %CC%88 %E2%80%AE %20 25 . a u - _ /".split(" "));
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
        const path = pieces.join("");
        if (!isEncodedName(path)) return;
        const name = decodedName(path);
        expect(encodedName(name)).toBe(path);
        expect(name).not.toMatch(/^\.|[/\\\p{Cc}\u202e]/u);
      }),
      runs(5_000),
    );
  });
});

describe("text", () => {
  const units = "a \x7f \x80 é \u07ff \u0800 日 \ud83d \ude00 😀 \uffff \ud800".split(" ");
  test("is measured as Node does, by bytes and by characters", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...units)), (parts) => {
        const text = parts.join("");
        expect(utf8Bytes(text)).toBe(Buffer.byteLength(text));
        expect(codePoints(text)).toBe(Array.from(text).length);
        expect(hasLoneSurrogate(text)).toBe(!text.isWellFormed());
      }),
      runs(500),
    );
  });
  test("is quoted so that nothing of it is invisible, and cut after 60 characters", () => {
    expect(quoted('a"b\\\n')).toBe('"a\\"b\\\\\\n"');
    expect(quoted("\u202e\u2028\u200b\ufeff\ud800\u{e0041}")).toBe('"\\u202e\\u2028\\u200b\\ufeff\\ud800\\u{e0041}"');
    expect([quoted("x".repeat(61)), quoted("😀".repeat(60))]).toEqual([`"${"x".repeat(60)}…"`, `"${"😀".repeat(60)}"`]);
  });
});

describe("derived files", () => {
  const named = ["MEMORY.md", "_.index/", "sub/made/"];
  const derived = ["MEMORY.md", "_.index/000001.txt", "_.index/deeper/a", "sub/made/a.md"];
  const near = ["memory.md", "MEMORY.md/a", "sub/MEMORY.md", "MEMORY.md.md", "_.index", "_.index.md"];
  const others = ["_.INDEX/000001.txt", "sub/a.md", "sub/made", "trash/MEMORY.20240101T000000000Z.md"];
  test("are those that are named, and no others", () => {
    expect(derived.filter((path) => !isDerived(path, named))).toEqual([]);
    expect([...near, ...others].filter((path) => isDerived(path, named))).toEqual([]);
    expect(isDerived("MEMORY.md", [])).toBe(false);
  });
  test("a plugin's manifest names the files that it derives", () => {
    const found = ["user-memory", "stores", "journal", "run-history"].map((name) => {
      const { tools } = manifestOf(readFileSync(shippedPlugin(name)));
      return tools.find(({ role }) => role === "inspect")?.derivedFiles;
    });
    expect(found).toEqual([[indexPath], [`${indexFolder}/`], undefined, undefined]);
  });
});

describe("the path of an entry of a store", () => {
  const store = "1661c313-4ad0-8843-866b-bc368d261bab";
  const marks = "a Z 9 - _ . / .md _. _.md _.2e _.2emd trash Trash con nul com1 lpt1 prn aux .. // é notes %20".split(
    " ",
  );
  const piece = fc.constantFrom(...marks, " ", "\n", "_.in", "_.ns", "_.by", "_.x");
  const text = fc.array(piece, { minLength: 1, maxLength: 5 }).map((parts) => parts.join(""));
  test("says whose it is and what its key is, and no other path does", () => {
    let places = 0;
    fc.assert(
      fc.property(text, (key) => {
        for (const path of [key, `${key}.md`]) {
          if (path.split("/").some((name) => ["", ".", ".."].includes(name))) continue;
          const place = placeOf(path, store);
          if (place === null || place.key === null || place.namespace === null) continue;
          places++;
          expect(pathOf({ ...place, key: place.key, namespace: place.namespace }, store)).toBe(path);
        }
      }),
      runs(3_000),
    );
    expect(places).toBeGreaterThan(100);
  });
  test("of a key says that key", () => {
    for (const key of ["A-b_c.d.md", "a.b/c.md", "README.md", "x/trash.md", "a.md/b.md", "x_.md", "é.md"]) {
      const id = { owner: store, isInternal: false, namespace: "", key };
      expect(placeOf(pathOf(id, store), store)).toEqual(id);
    }
  });
});

test("the error table matches shared/README.md", () => {
  const row = /^\| `([A-Z_]+)` \| (\w+) \| (yes|no) \| (.+) \|$/gm;
  const rows = Array.from(textOf("shared/README.md").matchAll(row), ([, ...cells]) => cells);
  const table = Object.entries(errorTable).map(([code, { blame, retryable, meaning }]) => [
    code,
    blame,
    retryable ? "yes" : "no",
    meaning,
  ]);
  expect(rows).toEqual(table);
});

/** What hosts and plugins share: paths, texts, derived files, and the tables that documents have of them. */
import { readFileSync } from "node:fs";

import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { runLimits } from "../../plugin/run-history/run-limits.ts";
import { pathOf, placeOf } from "../../plugin/stores/key-path.ts";
import { indexFolder } from "../../plugin/stores/store-index.ts";
import { indexPath } from "../../plugin/user-memory/entry-name.ts";
import { isDerived } from "../../shared/derived-files.ts";
import { errorTable } from "../../shared/errors.ts";
import { isScopePath, isScopePrefix } from "../../shared/path.ts";
import { dataDepthMax } from "../../shared/run-history/data-depth.ts";
import { codePoints, hasLoneSurrogate, quoted, utf8Bytes } from "../../shared/text.ts";
import { textOf } from "../documents/tracked-files.ts";
import { runs } from "../stage/random-runs.ts";
import { manifestOf } from "../support/reseal-plugin.ts";
import { shippedPlugin } from "../support/test-plugin.ts";

describe("isScopePath() and isScopePrefix()", () => {
  const fitting = [
    "a",
    "a.md",
    "-",
    "_a",
    "trash/a.20240101T000000000Z.md",
    "2024/01/02.md",
    "a..b",
    "a.",
    "__proto__",
  ];
  test.for([...fitting, "x".repeat(255)])("accept %s", (path) => expect(isScopePath(path)).toBe(true));
  const climbing = ["", ".", "..", ".a", "a/", "/a", "a//b", "a/../b", "a/.b"];
  const odd = ["a b", "a\\b", "a\0", "a\n", "é", "a:b", "~", "x".repeat(256)];
  test.for([...climbing, ...odd])("refuse %j", (path) => expect(isScopePath(path)).toBe(false));
  test("a prefix can end in a slash", () => {
    expect(["", "trash/", "a", "a/b"].filter((prefix) => !isScopePrefix(prefix))).toEqual([]);
    expect(["/", "..", "../", "a//"].filter(isScopePrefix)).toEqual([]);
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
  test.for([
    ['a"b\\', '"a\\"b\\\\"'],
    ["a\nb", '"a\\nb"'],
    ["\u202e\u2028\u200b\ufeff", '"\\u202e\\u2028\\u200b\\ufeff"'],
    ["\u{e0041}", '"\\u{e0041}"'],
    ["\ud800", '"\\ud800"'],
    ["x".repeat(61), `"${"x".repeat(60)}…"`],
    ["😀".repeat(60), `"${"😀".repeat(60)}"`],
  ] as const)("quoted(%j) is %s", ([text, expected]) => expect(quoted(text)).toBe(expected));
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
  test.for([
    ["user-memory", [indexPath]],
    ["stores", [`${indexFolder}/`]],
    ["journal", undefined],
    ["run-history", undefined],
  ] as const)("the manifest of %s names the files that it derives", ([name, expected]) => {
    const { tools } = manifestOf(readFileSync(shippedPlugin(name)));
    expect(tools.find(({ role }) => role === "inspect")?.derivedFiles).toEqual(expected);
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
  const keys = [
    "notes/a.md",
    "A-b_c.d.md",
    "a.b/c.md",
    "README.md",
    "x/trash.md",
    "Console.md",
    "a.md/b.md",
    "x_.md",
    "é.md",
  ];
  test.for(keys)("of the key %j says that key", (key) => {
    const id = { owner: store, isInternal: false, namespace: "", key };
    expect(placeOf(pathOf(id, store), store)).toEqual(id);
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

const inOneLine = (file: string): string => textOf(file).replaceAll(/\s+/g, " ");

test("the limits of run histories in the documents are those of the plugin", () => {
  const { eventsMax, eventBytesMax, filesMax, idBytesMax } = runLimits;
  const [events, files] = [eventsMax, filesMax].map((count) => count.toLocaleString("en"));
  const kib = `${eventBytesMax / 1024} KiB`;
  expect(inOneLine("plugin/README.md")).toContain(
    `limits: ${events} events per append, ${kib} and ${dataDepthMax} nested levels per event, and ${files} files of all`,
  );
  expect(inOneLine("shared/run-history/README.md")).toContain(
    `An id has 1 to ${idBytesMax} UTF-8 bytes. An event has at most ${kib} and ${dataDepthMax} nested objects`,
  );
});

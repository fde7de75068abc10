import { EventEmitter, once } from "node:events";
import { readFileSync } from "node:fs";

import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { UserQueue } from "../../host/values/slots.ts";
import type { Patience } from "../../host/values/slots.ts";
import { errorTable } from "../../shared/errors.ts";
import { isScopePath, isScopePrefix } from "../../shared/path.ts";
import { codePoints, hasLoneSurrogate, quoted, utf8Bytes } from "../../shared/text.ts";
import { ToolError, userFolderName } from "../stage/store.ts";
import type { UserId } from "../stage/store.ts";

describe("isScopePath()", () => {
  test.for([
    "a",
    "a.md",
    "-",
    "_a",
    "trash/a.20240101T000000000Z.md",
    "2024/01/02.md",
    "a..b",
    "a.",
    "__proto__",
    "x".repeat(255),
  ])("accepts %s", (path) => expect(isScopePath(path)).toBe(true));
  test.for([
    "",
    ".",
    "..",
    ".a",
    "a/",
    "/a",
    "a//b",
    "a/../b",
    "a/.b",
    "a b",
    "a\\b",
    "a\0",
    "a\n",
    "é",
    "a:b",
    "~",
    "x".repeat(256),
  ])("refuses %j", (path) => expect(isScopePath(path)).toBe(false));
});

test.for([
  ["", true],
  ["trash/", true],
  ["a", true],
  ["a/b", true],
  ["/", false],
  ["..", false],
  ["../", false],
  ["a//", false],
] as const)("isScopePrefix(%j) is %s", ([prefix, expected]) => expect(isScopePrefix(prefix)).toBe(expected));

describe("userFolderName()", () => {
  test.for([
    ["alice", "alice"],
    ["Alice@example.com", "Alice@example.com"],
    ["a b", "a%20b"],
    [".x.", "%2Ex%2E"],
    ["...", "%2E.%2E"],
    ["a%20b", "a%2520b"],
    ["é", "%C3%A9"],
    ["e\u0301", "e%CC%81"],
    ["😀", "%F0%9F%98%80"],
    ["a:b*c", "a%3Ab%2Ac"],
  ] as const)("%j is %s", ([userId, name]) => expect(userFolderName(userId as UserId)).toBe(name));

  test("an id whose encoding is too long gets its hash, and no two ids share a folder", () => {
    const names = ["日".repeat(42), `${"日".repeat(41)}月`, "日".repeat(21), "%".repeat(128)].map((id) =>
      userFolderName(id as UserId),
    );
    expect(new Set(names).size).toBe(names.length);
    for (const name of names) expect(name.length).toBeLessThanOrEqual(191);
    expect(names[0]).toMatch(/%~[0-9a-f]{64}$/);
  });
});

describe("text", () => {
  test.for(["", "abc", "é", "日本", "😀", "\ud800", "a\udc00b", "😀\ud83d", "\ud83da\ude00", "é日😀\u07ff\u0800"])(
    "utf8Bytes(%j) counts as Node does",
    (text) => {
      expect(utf8Bytes(text)).toBe(Buffer.byteLength(text));
    },
  );
  test("utf8Bytes() counts any text as Node does", () => {
    const unit = fc.constantFrom(
      "a",
      "\x7f",
      "\x80",
      "é",
      "\u07ff",
      "\u0800",
      "日",
      "\ud83d",
      "\ude00",
      "😀",
      "\uffff",
    );
    fc.assert(
      fc.property(fc.array(unit), (units) => {
        expect(utf8Bytes(units.join(""))).toBe(Buffer.byteLength(units.join("")));
      }),
    );
  });
  test.for([
    ["😀", false],
    ["\ud800", true],
    ["\udc00", true],
    ["a", false],
    ["\ud83d\ud83d\ude00", true],
  ] as const)("hasLoneSurrogate(%j) is %s", ([text, expected]) => expect(hasLoneSurrogate(text)).toBe(expected));
  test.for(["", "a", "😀x", "\ud800x"])("codePoints(%j) counts as iteration does", (text) => {
    expect(codePoints(text)).toBe(Array.from(text).length);
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

const patience = (waitMs = 60_000): Patience => ({
  until: performance.now() + waitMs,
  signal: new AbortController().signal,
  tooLong: (waitedMs) => new ToolError("BUSY", `${waitedMs} ms`),
});

describe("UserQueue", () => {
  test("keeps a user's order, lets users pass each other, and goes on after a failure", async () => {
    const queue = new UserQueue();
    const order: string[] = [];
    const gate = new EventEmitter();
    const first = queue.run("a", patience(), async () => {
      await once(gate, "open");
      order.push("a1");
      throw new Error("a1 failed");
    });
    const second = queue.run("a", patience(), async () => order.push("a2"));
    await queue.run("b", patience(), async () => order.push("b1"));
    gate.emit("open");
    await expect(first).rejects.toThrow("a1 failed");
    await second;
    expect(order).toEqual(["b1", "a1", "a2"]);
  });

  test("gives BUSY to one who waits too long, and goes on with the next", async () => {
    const queue = new UserQueue();
    const gate = new EventEmitter();
    const first = queue.run("a", patience(), () => once(gate, "open"));
    const impatient = queue.run("a", patience(5), async () => "never");
    const patient = queue.run("a", patience(), async () => "done");
    await expect(impatient).rejects.toMatchObject({ code: "BUSY", retryable: true });
    gate.emit("open");
    expect(await patient).toBe("done");
    await first;
  });
});

test("the error table matches shared/README.md", () => {
  const readme = readFileSync(new URL("../../shared/README.md", import.meta.url), "utf8");
  const rows = Array.from(
    readme.matchAll(/^\| `([A-Z_]+)` \| (\w+) \| (yes|no) \| (.+) \|$/gm),
    ([, ...cells]) => cells,
  );
  const table = Object.entries(errorTable).map(([code, { blame, retryable, meaning }]) => [
    code,
    blame,
    retryable ? "yes" : "no",
    meaning,
  ]);
  expect(rows).toEqual(table);
});

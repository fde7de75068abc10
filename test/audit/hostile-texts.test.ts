/** No text of a plugin, a policy or a log controls a terminal, becomes markup in the page, or hides from its reader. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";

import { expect, test } from "vitest";

import { customSection, writeModule } from "../../shared/wasm-writer.ts";
import { memcell } from "../stage/command.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { auditJson, callEntry, refusedEntry, wordsOf, writeChain } from "./audited.ts";
import { everyTool, manifestSections, otherSections, resealed } from "./changed-plugin.ts";
import {
  hostilePage,
  html,
  Markup,
  pageWith,
  payloads,
  terminalTexts,
  textOf,
  unsafeOnTerminal,
} from "./hostile-texts.ts";
import { visibleText, wordParts } from "./hostile-texts.ts";

test.for(terminalTexts)("%s in every name of a file and of a log prints only visible characters", async ([, text]) => {
  using folder = temporaryFolder();
  const isName = !/[\0/\ud800]/.test(text);
  const added = [text, `\n${text}\nPASS`].map((name) => customSection(name, Uint8Array.of(1)));
  const files = [
    writeModule([...added, ...otherSections, ...manifestSections]),
    resealed({ name: text }),
    resealed({ tools: everyTool({ description: text, name: text, scopes: [text] }) }),
    resealed({ [text]: text }),
    resealed({ version: text, instructions: text }),
    resealed({ errors: [{ code: "KEY_EXISTS", of: "NAME_CONFLICT", meaning: text }] }),
  ].map((bytes, at) => {
    const file = join(folder.path, `${isName ? text : ""}${at}.wasm`);
    writeFileSync(file, bytes);
    return file;
  });
  const log = join(folder.path, "audit.jsonl");
  writeChain(log, [callEntry(1, { userId: text, callId: text, tool: text }), refusedEntry({ userId: text })]);
  const { status, stdout } = await memcell(["audit", ...files, "--log", log]);
  expect(status).toBe(1);
  expect(stdout).not.toMatch(unsafeOnTerminal);
  expect(
    stdout
      .split("\n")
      .filter((line) => line.startsWith("PASS") && !/^PASS {2}2 records, 0 to 1, in 1 file, \d+ bytes$/.test(line)),
  ).toEqual([]);
  const json = await memcell(["audit", ...files, "--log", log, "--json"]);
  expect(json.stdout).not.toMatch(unsafeOnTerminal);
  for (const report of (await auditJson(...files)).reports) {
    expect(stripVTControlCharacters(textOf(report, true))).toBe(textOf(report, false));
  }
});

test("escapes every invisible character and every one that a terminal acts on, and no other", () => {
  const wrong: string[] = [];
  for (let code = 0; code <= 0x10_ffff; code++) {
    const character = String.fromCodePoint(code);
    const isUnseen = /\p{C}|\p{Zl}|\p{Zp}|\p{Default_Ignorable_Code_Point}/u.test(character);
    if (isUnseen === (visibleText(character) === character)) wrong.push(code.toString(16));
  }
  expect(wrong).toEqual([]);
});

const page = hostilePage();

test("a page of hostile texts has only elements and attributes of its own", () => {
  const body = page.slice(page.indexOf("</style>"));
  const tags = Array.from(
    body.matchAll(/<\/?([a-zA-Z!?][^\s>/]*)((?:[^>"]|"[^"]*")*)>/g),
    ([, name = "", attributes = ""]) => ({ name, attributes }),
  );
  const own =
    /^(style|head|body|html|header|main|footer|article|section|h[123]|p|ul|li|dl|dt|dd|div|span|strong|code|bdi|wbr|a|br|small|table|caption|thead|tbody|tr|th|td|details|summary|svg|g|rect|line|path|text|time|title|ol|h4|figure|figcaption|desc|form|label|select|option|optgroup|button|output|colgroup|col|polyline|circle|nav|b|i|em)$/;
  expect(tags.length).toBeGreaterThan(1_000);
  expect([...new Set(tags.map(({ name }) => name))].filter((name) => !own.test(name))).toEqual([]);
  const attributes = tags.flatMap((tag) =>
    Array.from(tag.attributes.matchAll(/\s([a-zA-Z:-]+)(?:="([^"]*)")?/g), ([, name = "", value = ""]) => [
      name,
      value,
    ]),
  );
  expect(attributes.filter(([name = ""]) => /^(on|style$|src|action|formaction|target)/i.test(name))).toEqual([]);
  expect(attributes.filter(([name, value = ""]) => name === "href" && !/^#[a-z0-9-]+$/.test(value))).toEqual([]);
  expect(page.match(/<(?:style|title)\b/g)?.filter((each) => each === "<style")).toHaveLength(1);
});

test("a page shows every hostile text as text", () => {
  const words = wordsOf(page);
  const short = payloads.filter((payload) => payload.length < 1_000 && /^[\x20-\x7e]*$/.test(payload));
  expect(short.length).toBeGreaterThan(10);
  expect(short.filter((payload) => !words.includes(payload))).toEqual([]);
  expect(words).not.toMatch(/[\p{Cc}\p{Bidi_Control}]/u);
});

test.for<readonly [name: string, text: string, shown: string]>([
  ["plain text", 'a "b" ü 山田 é', 'a "b" ü 山田 é'],
  ["a right-to-left override", "a\u202eb", "aU+202Eb"],
  ["an escape sequence", "\u001b[31m", "U+001B[31m"],
  ["a character of two code units", "\u{e0041}", "U+E0041"],
  ["half of a surrogate pair", "\ud83d!", "U+D83D!"],
  ["a no-break space", "a\u00a0b c", "aU+00A0b c"],
  ["two marks on a letter", "e\u0301\u0323", "e\u0301\u0323"],
  ["a third mark on a letter", "e\u0301\u0323\u0301", "e\u0301\u0323U+0301"],
  ["a long run", "\u200b".repeat(11), `${"U+200B".repeat(8)}and 3 more of the kind`],
  ["a long text", "x".repeat(1_200), `${"x".repeat(1_000)}… and 200 more characters`],
  ["a cut through a pair", `${"x".repeat(999)}😀y`, `${"x".repeat(999)}… and 3 more characters`],
])("a page shows %s", ([, text, shown]) => {
  expect(wordsOf(pageWith(text))).toContain(`The policy takes away: ${shown}`);
});

const hash = "0c27391d914dc472d3cbb1bbeabafe09d239e881bd0cbef022223379f64da0cc";

test.for<readonly [text: string, ...parts: string[][]]>([
  ["user-memory store_read", ["user-memory "], ["store_read"]],
  ["../../bob/memory/secret.md", ["../../", "bob/", "memory/", "secret.", "md"]],
  ["0c27391d-914d-467f-a8b1-52a0f3f1c6aa", ["0c27391d-", "914d-", "467f-", "a8b1-", "52a0f3f1c6aa"]],
  ["RestoreEveryDeletedEntry", ["Restore", "Every", "Deleted", "Entry"]],
  ["MEMORY_INVALID_TARGET", ["MEMORY_", "INVALID_", "TARGET"]],
  [
    `is ${hash}, not`,
    ["is "],
    [hash.slice(0, 16), hash.slice(16, 32), hash.slice(32, 48), `${hash.slice(48)}, `],
    ["not"],
  ],
  ["株式会社山田商店営業部門課長", ["株式会社山田商店", "営業部門課長"]],
  ["محمد عبد الله", ["محمد "], ["عبد "], ["الله"]],
  ["W\u0300".repeat(24), ["W\u0300".repeat(16), "W\u0300".repeat(8)]],
  ["-".repeat(40), ["-".repeat(16), "-".repeat(24)]],
  [" ".repeat(30), [" ".repeat(30)]],
  ["", [""]],
])("a line of the page may end between the parts of %j", ([text, ...parts]) => {
  expect(wordParts(text)).toEqual(parts);
});

test("only html makes markup, and it refuses a value in a place where it could load, run or style something", () => {
  const hostile = "javascript:alert(1)";
  expect(() => html`<a href="${hostile}">x</a>`).toThrow(TypeError);
  expect(() => html`<p style="${hostile}">x</p>`).toThrow(TypeError);
  expect(() => html`<p onclick="${hostile}">x</p>`).toThrow(TypeError);
  expect(() => html`<img src="${hostile}" />`).toThrow(TypeError);
  expect(() => html`<p class=${hostile}>x</p>`).toThrow(TypeError);
  expect(() => html`<p ${hostile}>x</p>`).toThrow(TypeError);
  expect(() => html`<p class="${html`<b>`}">x</p>`).toThrow(TypeError);
  expect(html`<a href="#${'" onclick="x'}">x</a>`.toString()).toBe('<a href="#&quot; onclick=&quot;x">x</a>');
  expect(() => new Markup(Symbol("made by html") as never, "<script>")).toThrow(TypeError);
});

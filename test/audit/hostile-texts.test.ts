/** No text of a plugin, a policy or a log controls a terminal, becomes markup in the page, or hides from its reader. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { visibleText } from "../../host/values/visible-text.ts";
import { memcell } from "../stage/command.ts";
import { oneIn } from "../stage/seed.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { wordsOf, writeChain } from "./audited.ts";
import { filesWith, pageWith, payloads, recordsWith, unsafeOnTerminal } from "./hostile-texts.ts";

// The first is tried in each run.
const terminalTexts = [
  ["a sequence that clears the screen", "\u001b[2J\u001b[H"],
  ["a carriage return", "x\rPASS  it is what its manifest says"],
  ["a one-character control sequence", "\u009b2J"],
  ["a link", "\u001b]8;;https://example.com\u001b\\memcell\u001b]8;;\u001b\\"],
  ["a backspace", "FAIL\b\b\b\bPASS"],
  ["a bidirectional override", "\u202eSSAP\u202c"],
  ["line separators", "x\u2028PASS\u2029PASS\u0085PASS"],
  ["invisible characters", "\u200b\u2060\ufeff\u00ad\u115f\u3164\ufe0f\u{e0041}"],
  ["half a character", "\ud800"],
  ["a NUL", "\u0000"],
] as const;

test.for([...terminalTexts.slice(0, 1), ...oneIn(3, terminalTexts.slice(1))])(
  "%s in every name of a file and of a log prints only visible characters",
  async ([, text]) => {
    using folder = temporaryFolder();
    const isName = !/[\0/\ud800]/.test(text);
    const next = (): string => text;
    const files = filesWith(next).map((bytes, at) => {
      const file = join(folder.path, `${isName ? text : ""}${at}.wasm`);
      writeFileSync(file, bytes);
      return file;
    });
    const log = join(folder.path, "audit.jsonl");
    writeChain(log, recordsWith(next));
    const { status, stdout } = await memcell(["audit", ...files, "--log", log]);
    expect(status).toBe(1);
    expect(stdout).not.toMatch(unsafeOnTerminal);
    // The log is intact, and nothing else passes.
    const passed = stdout.split("\n").filter((line) => line.startsWith("PASS"));
    expect(passed).toEqual([expect.stringMatching(/^PASS {2}\d+ records, 0 to \d+, in 1 file, \d+ bytes$/)]);
    const json = await memcell(["audit", ...files, "--log", log, "--json"]);
    expect(json.stdout).not.toMatch(unsafeOnTerminal);
  },
);

test("escapes every invisible character and every one that a terminal acts on, and no other", () => {
  const wrong: string[] = [];
  for (let code = 0; code <= 0x10_ffff; code++) {
    const character = String.fromCodePoint(code);
    const isUnseen = /\p{C}|\p{Zl}|\p{Zp}|\p{Default_Ignorable_Code_Point}/u.test(character);
    if (isUnseen === (visibleText(character) === character)) wrong.push(code.toString(16));
  }
  expect(wrong).toEqual([]);
});

const page = await pageWith(payloads);

const tagsOf = (html: string): { name: string; attributes: string }[] =>
  Array.from(
    html.slice(html.indexOf("</style>")).matchAll(/<\/?([a-zA-Z!?][^\s>/]*)((?:[^>"]|"[^"]*")*)>/g),
    ([, name = "", attributes = ""]) => ({ name, attributes }),
  );

test("a page of hostile texts has only elements, attributes and classes of its own", async () => {
  const honest = tagsOf(await pageWith(["honest"]));
  const tags = tagsOf(page);
  // A long text has a mark where a line may end.
  const own = new Set([...honest.map(({ name }) => name), "wbr"]);
  expect(tags.length).toBeGreaterThan(1_000);
  expect([...new Set(tags.map(({ name }) => name))].filter((name) => !own.has(name))).toEqual([]);
  const attributes = tags.flatMap((tag) =>
    Array.from(tag.attributes.matchAll(/\s([a-zA-Z:-]+)(?:="([^"]*)")?/g), ([, name = "", value = ""]) => [
      name,
      value,
    ]),
  );
  expect(attributes.filter(([name = ""]) => /^(on|style$|src|action|formaction|target)/i.test(name))).toEqual([]);
  expect(attributes.filter(([name, value = ""]) => name === "href" && !/^#[a-z0-9-]+$/.test(value))).toEqual([]);
  // A choice of the filter takes rows by their classes: they have no text of a log in them.
  expect(attributes.filter(([name, value = ""]) => name === "class" && !/^[a-z0-9 -]*$/.test(value))).toEqual([]);
  expect(page.match(/<style\b/g)).toHaveLength(1);
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
  ["a no-break space", "a\u00a0b c", "aU+00A0b c"],
  ["a long text", "x".repeat(1_200), `${"x".repeat(1_000)}… and 200 more characters`],
])("a page shows %s", async ([, text, shown]) => {
  expect(wordsOf(await pageWith([text]))).toContain(shown);
});

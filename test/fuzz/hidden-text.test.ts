/** Property: the rule about hidden characters, against the properties that Unicode gives to every character. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { firstHidden, hiddenPlace, withoutHidden } from "../../shared/hidden-text.ts";
import { runs } from "../stage/random-runs.ts";

const tags = (text: string): string =>
  Array.from(text, (char) => String.fromCodePoint(0xe0000 + (char.codePointAt(0) ?? 0))).join("");

const flag = (region: string): string => `\u{1f3f4}${tags(region)}\u{e007f}`;

/** What belongs to emoji and scripts. */
const seen = {
  "a family": "👨\u200d👩\u200d👧\u200d👦",
  "a profession with a skin tone": "👩🏽\u200d🚒 ❤\ufe0f\u200d🔥 🏳\ufe0f\u200d🌈 👁\ufe0f\u200d🗨\ufe0f",
  "flags of England, Scotland and Wales": `${flag("gbeng")} ${flag("gbsct")} ${flag("gbwls")}`,
  "flags of countries": "🇩🇪🇺🇦",
  keycaps: "1\ufe0f\u20e3 #\ufe0f\u20e3",
  "digits as text and as emoji": "1\ufe0e 2\ufe0f",
  "quotation marks with a width": "\u201c\ufe00 \u201d\ufe01",
  "text and emoji presentation": "☺\ufe0e ☺\ufe0f",
  Persian: "می\u200cخواهم PDF\u200cها",
  Hindi: "क्\u200dष क्\u200cष",
  Sinhala: "ශ්\u200dරී",
  Khmer: "ភាសា\u200bខ្មែរ",
  Mongolian: "ᠮᠣᠩᠭᠣᠯ ᠪᠣᠯᠪᠠ\u180b",
  "ideographs with variants": "葛\u{e0100}飾 神\ufe00",
  "marks of direction beside Arabic and Hebrew": "مرحبا C++\u200f، שלום\u200f!",
  Braille: "⠓⠊\u2800⠽⠕⠥",
  "spaces, accents and a private character": "a\u00a0b\u3000c\u202fd e\u0301 \uf8ff",
  "tabs, line ends and the other controls of ASCII": "a\tb\r\nc\u001b[0m\u0001",
};

test.for(Object.entries(seen))("%s stay", ([, text]) => {
  expect(firstHidden(text)).toBeNull();
  expect(withoutHidden(text)).toBe(text);
});

describe("hidden", () => {
  test.for([
    ["tags", `hello${tags("ig")}`, "hello\\u{e0069}\\u{e0067}", "U+E0069 at character 6"],
    ["tags behind a flag", flag("ignore"), `\u{1f3f4}${escapes("ignore")}\\u{e007f}`, "U+E0069 at character 2"],
    [
      "a flag that is not closed",
      `\u{1f3f4}${tags("gbeng")}`,
      `\u{1f3f4}${escapes("gbeng")}`,
      "U+E0067 at character 2",
    ],
    ["selectors in a row", "葛\u{e0100}\u{e0101}", "葛\u{e0100}\\u{e0101}", "U+E0101 at character 3"],
    ["a selector behind a letter", "a\ufe0f", "a\\ufe0f", "U+FE0F at character 2"],
    ["joiners between Latin letters", "a\u200db\u200cc", "a\\u200db\\u200cc", "U+200D at character 2"],
    ["joiners in a row", "م\u200c\u200cم", "م\u200c\\u200cم", "U+200C at character 3"],
    ["a mark of direction in a Latin line", "مرحبا\na\u200fb", "مرحبا\na\\u200fb", "U+200F at character 2 of line 2"],
    ["a soft hyphen", "co\u00adop", "co\\u00adop", "U+00AD at character 3"],
    ["an override", "a\u202eb", "a\\u202eb", "U+202E at character 2"],
    ["a lone surrogate", "a\ud800", "a\\ud800", "U+D800 at character 2"],
    ["a blank of Braille in a Latin line", "a\u2800", "a\\u2800", "U+2800 at character 2"],
  ] as const)("%s", ([, text, shown, place]) => {
    const first = firstHidden(text);
    expect(first && hiddenPlace(text, first)).toBe(place);
    expect(withoutHidden(text)).toBe(shown);
  });
});

test("a byte order mark at the start is left out, elsewhere it is visible", () => {
  expect(withoutHidden("\ufeff# Title\ufeff")).toBe("# Title\\ufeff");
});

describe("a body", () => {
  test.for([
    ["keeps what people paste", "\ufeffco\u00adop\u200berate\u202e a\ufe0f\u2028\u2029 x\u007f y\ufeff"],
    ["keeps eight of them", "a\u200b".repeat(8)],
  ])("%s", ([, text = ""]) => {
    expect(withoutHidden(text, "body")).toBe(text);
    expect(firstHidden(text, "body")).toBeNull();
    expect(firstHidden(text)).not.toBeNull();
  });

  test.for([
    ["nine of them", "a\u200b".repeat(9), "a\\u200b".repeat(9)],
    ["two side by side", "a\u200b\u200cb c\u00ad", "a\\u200b\\u200cb c\u00ad"],
    ["a single tag", "a\u{e0069}b", "a\\u{e0069}b"],
    ["a selector that can hold a byte", "a\u{e0100}b", "a\\u{e0100}b"],
  ] as const)("does not keep %s", ([, text, shown]) => {
    expect(withoutHidden(text, "body")).toBe(shown);
  });
});

function escapes(text: string): string {
  return Array.from(text, (char) => `\\u{e00${(char.codePointAt(0) ?? 0).toString(16)}}`).join("");
}

/** Signs of numbers and abbreviations: format characters that a person sees. */
const signs = /[\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\u{110bd}\u{110cd}]/u;

test("every character that Unicode calls ignorable, or a format, a separator of lines or no character, is hidden behind a letter", () => {
  const missed: string[] = [];
  for (let point = 0; point <= 0x10ffff; point++) {
    if (point >= 0xd800 && point <= 0xdfff) continue;
    const character = String.fromCodePoint(point);
    const isUnseen = /[\p{Default_Ignorable_Code_Point}\p{Cf}\p{Zl}\p{Zp}\p{Noncharacter_Code_Point}]/u.test(character);
    if (isUnseen && !signs.test(character) && firstHidden(`a${character}`) === null) missed.push(point.toString(16));
  }
  expect(missed).toEqual([]);
});

const marks = Array.from("\u200b\u200c\u200d\u200f\ufe0f\u{e0100}\u{e0069}\u{e007f}\u00ad\ufeffa \nمक葛👩\u{1f3f4}1");
const parts = fc.constantFrom(...Object.values(seen), ...marks, "\ud800");
const texts = fc
  .array(fc.oneof(parts, fc.string({ unit: "grapheme" }), fc.string({ unit: "binary" })))
  .map((all) => all.join(""));

test("what is shown has no hidden character, and a text without one is shown as it is", () => {
  fc.assert(
    fc.property(texts, (text) => {
      const shown = withoutHidden(text);
      expect(firstHidden(shown)).toBeNull();
      expect(withoutHidden(shown)).toBe(shown);
      if (firstHidden(text) === null) expect(shown).toBe(text);
      else expect(shown).not.toBe(text);
      // No row of tags is left but the three flags.
      const rest = ["gbeng", "gbsct", "gbwls"].reduce((left, region) => left.replaceAll(flag(region), ""), shown);
      expect(rest).not.toMatch(/[\u{e0000}-\u{e00ff}]|[\u200b\u00ad]{2}/u);
      const body = withoutHidden(text, "body");
      expect(body).not.toMatch(/[\u200b\u00ad\ufeff]{2}|[\u{e0069}]/u);
      expect(firstHidden(body, "body")).toBeNull();
    }),
    runs(300),
  );
});

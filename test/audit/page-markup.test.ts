/** Text of others in markup: what is not seen is named, and only html makes markup. */
import { expect, test } from "vitest";

import { html, Markup, visibleParts } from "../../host/report/page/markup.ts";

const texts: readonly { name: string; text: string; shown: string }[] = [
  { name: "plain text", text: 'a "b" ü 山田 é', shown: 'a "b" ü 山田 é' },
  { name: "a right-to-left override", text: "a\u202eb", shown: "a[U+202E]b" },
  { name: "an escape sequence", text: "\u001b[31m", shown: "[U+001B][31m" },
  { name: "a character of two code units", text: "\u{e0041}", shown: "[U+E0041]" },
  { name: "half of a surrogate pair", text: "\ud83d!", shown: "[U+D83D]!" },
  { name: "a no-break space", text: "a\u00a0b c", shown: "a[U+00A0]b c" },
  { name: "two marks on a letter", text: "e\u0301\u0323", shown: "e\u0301\u0323" },
  { name: "a third mark on a letter", text: "e\u0301\u0323\u0301", shown: "e\u0301\u0323[U+0301]" },
  { name: "a long run", text: "\u200b".repeat(11), shown: `${"[U+200B]".repeat(8)}[and 3 more of the kind]` },
  { name: "a long text", text: "x".repeat(1_200), shown: `${"x".repeat(1_000)}[… and 200 more characters]` },
  { name: "a cut through a pair", text: `${"x".repeat(999)}😀y`, shown: `${"x".repeat(999)}[… and 3 more characters]` },
];

test.for(texts)("visibleParts shows $name", ({ text, shown }) => {
  const parts = visibleParts(text).map((part) => (part.kind === "shown" ? part.text : `[${part.text}]`));
  expect(parts.join("")).toBe(shown);
});

test("html refuses a value in a place where it could load, run or style something", () => {
  const hostile = "javascript:alert(1)";
  expect(() => html`<a href="${hostile}">x</a>`).toThrow(TypeError);
  expect(() => html`<p style="${hostile}">x</p>`).toThrow(TypeError);
  expect(() => html`<p onclick="${hostile}">x</p>`).toThrow(TypeError);
  expect(() => html`<img src="${hostile}" />`).toThrow(TypeError);
  expect(() => html`<p class=${hostile}>x</p>`).toThrow(TypeError);
  expect(() => html`<p ${hostile}>x</p>`).toThrow(TypeError);
  expect(() => html`<p class="${html`<b>`}">x</p>`).toThrow(TypeError);
  expect(html`<a href="#${'" onclick="x'}">x</a>`.toString()).toBe('<a href="#&quot; onclick=&quot;x">x</a>');
});

test("only html can create markup", () => {
  const key = Symbol("made by html");
  expect(() => new Markup(key as never, "<script>")).toThrow(TypeError);
});

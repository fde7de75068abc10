/** The only way to make HTML: what may be an address, what is sent back exactly, and what is shown of a text. */
import { describe, expect, test } from "vitest";

import {
  Address,
  Markup,
  addressBelow,
  addressOf,
  canBeTyped,
  editable,
  html,
  preformatted,
} from "../../host/markup/markup.ts";

describe("an address", () => {
  test.for<readonly [names: readonly string[], query: Readonly<Record<string, string>>, path: string]>([
    [[], {}, "/m"],
    [["entry", "a b.md"], {}, "/m/entry/a%20b.md"],
    [["a/b", "?x=1#y"], {}, "/m/a%2Fb/%3Fx%3D1%23y"],
    [["\u00fc\u{1f375}"], {}, "/m/%C3%BC%F0%9F%8D%B5"],
    [["%2e%2e"], {}, "/m/%252e%252e"],
    [["..."], {}, "/m/..."],
    [["//attacker.example"], {}, "/m/%2F%2Fattacker.example"],
    [["javascript:x"], {}, "/m/javascript%3Ax"],
    [[], { done: 'a"&b=c' }, "/m?done=a%22%26b%3Dc"],
  ])("of the names %o and the query %o", ([names, query, path]) => {
    expect(addressBelow("/m", names, query).toString()).toBe(path);
  });

  test.for(["", ".", ".."])("has no name %o, which a browser takes for a step", (name) => {
    expect(() => addressBelow("/m", ["a", name])).toThrow(TypeError);
  });

  test("has no half of a character", () => {
    expect(() => addressBelow("/m", ["\ud800"])).toThrow(URIError);
  });

  test.for(["javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "blob:https://a.example/x"])(
    "of another server is no %s",
    (url) => {
      expect(() => addressOf(new URL(url))).toThrow(TypeError);
    },
  );

  test("of another server is http or https", () => {
    expect(addressOf(new URL("https://issuer.example/a?b=c")).toString()).toBe("https://issuer.example/a?b=c");
    expect(addressOf(new URL("http://127.0.0.1:1/x")).toString()).toBe("http://127.0.0.1:1/x");
  });

  test("fits where a link or a form leads, and is escaped there", () => {
    const address = addressBelow("/m", ["a'b"], { c: "d", e: "f" });
    const shown = "/m/a&#39;b?c=d&amp;e=f";
    expect(html`<a href="${address}"></a>`.toString()).toBe(`<a href="${shown}"></a>`);
    expect(html`<form action="${address}"></form>`.toString()).toBe(`<form action="${shown}"></form>`);
    expect(html`<meta content="0;url=${address}" />`.toString()).toBe(`<meta content="0;url=${shown}" />`);
    expect(() => html`<a class="${address}"></a>`).toThrow(TypeError);
    expect(() => html`<a href="/m/${address}"></a>`).toThrow(TypeError);
    expect(() => html`<img src="${address}" />`).toThrow(TypeError);
  });

  test("cannot be made of a string, and a string is none", () => {
    expect(() => Reflect.construct(Address, [Symbol("made by html"), "javascript:x"])).toThrow(TypeError);
    expect(() => Reflect.construct(Markup, [Symbol("made by html"), "<script>"])).toThrow(TypeError);
    expect(() => html`<a href="${"/m"}"></a>`).toThrow(TypeError);
    expect(() => html`<form action="${"/m"}"></form>`).toThrow(TypeError);
    expect(() => html`<meta content="0;url=${"/m"}" />`).toThrow(TypeError);
  });
});

describe("a value that is sent back", () => {
  test("is exact, with characters that nobody sees", () => {
    const text = "\u200b\u202e \"<&>' \u00a0\ufeff\u{1f375}";
    expect(html`<input value="${text}" />`.toString()).toBe(
      '<input value="\u200b\u202e &quot;&lt;&amp;&gt;&#39; \u00a0\ufeff\u{1f375}" />',
    );
  });

  test.for(["a\nb", "a\rb", "a\0b", "\u0085", "\ud800"])("is none that a browser changes: %j", (text) => {
    expect(() => html`<input value="${text}" />`).toThrow(TypeError);
  });

  test("is in no other attribute", () => {
    for (const at of ["onclick", "style", "src", "formaction", "target"])
      expect(() => html([`<input ${at}="`, '" />'] as unknown as TemplateStringsArray, "x")).toThrow(TypeError);
  });
});

describe("a text to edit", () => {
  test("has a line end more, which a parser takes away, and is escaped", () => {
    expect(html`<textarea>${editable('\n</textarea>&amp;"')}</textarea>`.toString()).toBe(
      "<textarea>\n\n&lt;/textarea&gt;&amp;amp;&quot;</textarea>",
    );
  });

  test.for<readonly [text: string, can: boolean]>([
    ["", true],
    ["\n\na\n", true],
    ["a\r\nb\r\n", true],
    ["a\r\nb\n", true],
    ["a\rb", false],
    ["a\r\r\nb", false],
    ["a\0", false],
    ["\ud800", false],
    ["\ufeff\u2028\ufffe\u0001\t", true],
    ["</textarea>", true],
  ])("%j: a browser sends it back: %s", ([text, can]) => {
    expect(canBeTyped(text)).toBe(can);
  });
});

const shown = (text: string): string => html`<pre><code>${preformatted(text)}</code></pre>`.toString().slice(11, -13);

describe("a preformatted text", () => {
  test.for<readonly [text: string, shown: string]>([
    ["a\n\tb  c\r\nd", "a\n\tb  c\nd"],
    ["<b>&amp;</b>", "&lt;b&gt;&amp;amp;&lt;/b&gt;"],
    ["a\u200bb", 'a<span class="unseen">U+200B</span>b'],
    ["\u202ex", '<span class="unseen">U+202E</span>x'],
    ["a\rb", 'a<span class="unseen">U+000D</span>b'],
    ["\0", '<span class="unseen">U+0000</span>'],
    ["\u{e0041}", '<span class="unseen">U+E0041</span>'],
  ])("%j", ([text, expected]) => {
    expect(shown(text)).toBe(expected);
  });

  test("is not cut, however long it is", () => {
    expect(shown("a b\n".repeat(20_000))).toBe("a b\n".repeat(20_000));
  });
});

test.for<readonly [name: string, text: string, isShown: boolean]>([
  ["an astronaut, two joined", "\u{1f469}\u200d\u{1f680}", true],
  ["a heart in colour", "\u2764\ufe0f", true],
  ["a heart in text", "\u2764\ufe0e", true],
  ["a key with a number", "1\ufe0f\u20e3", true],
  ["a skin, and joined", "\u{1f469}\u{1f3fd}\u200d\u{1f680}", true],
  ["a Persian word, parted", "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645", true],
  ["a Hindi word, joined", "\u0915\u094d\u200d\u0937", true],
  ["Latin letters, joined", "a\u200db", false],
  ["Latin letters, parted", "a\u200cb", false],
  ["a selector behind a letter", "a\ufe0f", false],
  ["a joiner at the end", "\u{1f469}\u200d", false],
  ["two joiners", "\u{1f469}\u200d\u200d\u{1f680}", false],
  ["two parters in Persian", "\u06cc\u200c\u200c\u062e", false],
])("what chooses a form hides nothing: %s", ([, text, isShown]) => {
  expect(preformatted(text).toString().includes("unseen")).toBe(!isShown);
});

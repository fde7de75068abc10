/** A text that extends the one that was read last becomes the right JSON, in whatever form a host has sent that one. */
import { expect, test } from "vitest";

import { LastRead } from "../../plugin/last-read.ts";

const texts = ["", "a", '"', "\\", 'a"}', "line\n", "é\u2028", "\u{1f600}", '","x":"', "<&>\u0000"];

const forms: Record<string, (content: string) => string> = {
  "JSON.stringify": (content) => JSON.stringify({ ok: true, content }),
  "with escapes for what is not ASCII": (content) =>
    JSON.stringify({ ok: true, content }).replaceAll(
      /[^ -~]|[<&>]/g,
      (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
    ),
  "with a line feed": (content) => `${JSON.stringify({ ok: true, content })}\n`,
  indented: (content) => JSON.stringify({ ok: true, content }, null, 1),
  "in another order": (content) => JSON.stringify({ content, ok: true }),
  "with another key behind it": (content) => JSON.stringify({ ok: true, content, note: "x" }),
  "with another key before it": (content) => JSON.stringify({ ok: true, bytes: 1, content }),
};

test.each(Object.entries(forms))("a reply of the form %s", (_name, form) => {
  const read = new LastRead();
  for (const text of texts) {
    const json = form(text);
    read.keep(JSON.parse(json) as { ok: true; content: string }, json);
    for (const more of texts) {
      const [extended, other] = [text + more, `x${text}${more}`];
      expect([JSON.parse(read.jsonOf(extended)), JSON.parse(read.jsonOf(other))]).toEqual([extended, other]);
    }
  }
});

test("a file that is not there changes nothing", () => {
  const read = new LastRead();
  read.keep({ ok: true, content: null }, '{"ok":true,"content":null}');
  expect(read.jsonOf("a")).toBe('"a"');
});

/** The glue writes and reads the inside of a JSON string as `JSON.stringify` and `JSON.parse` do, or gives up. */
import { readFileSync } from "node:fs";

import fc from "fast-check";
import { expect, test } from "vitest";

import { runs } from "../stage/random-runs.ts";
import { assembleGuest } from "../support/assemble-guest.ts";

const source = new URL("build/glue/json.wat", import.meta.resolve("memcell/package.json"));
const pages = 4;
const memory = new WebAssembly.Memory({ initial: pages, maximum: pages });
const glue = assembleGuest(readFileSync(source, "utf8"), []);
const { instance } = await WebAssembly.instantiate(glue, { qjs: { memory } });
const { quote, unquote } = instance.exports as {
  quote: (from: number, bytes: number, to: number) => number;
  unquote: (from: number, end: number) => number;
};

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const memoryBytes = new Uint8Array(memory.buffer);
const textAt = (from: number, end: number): string => decoder.decode(memoryBytes.slice(from, end));

/** Puts bytes at the end of the memory, so that reading beyond them is a trap. */
function placed(text: string | Uint8Array): { from: number; bytes: number } {
  const bytes = typeof text === "string" ? encoder.encode(text) : text;
  const from = memoryBytes.length - bytes.length;
  memoryBytes.set(bytes, from);
  return { from, bytes: bytes.length };
}

/** `null` if the glue gives up. */
function quoted(text: string | Uint8Array, to = 8): string | null {
  const { from, bytes } = placed(text);
  const end = quote(from, bytes, to);
  if (end - to > 2 * bytes) throw new RangeError("More room was used than there is");
  return end === 0 ? null : textAt(to, end);
}

function unquoted(inside: string): string | null {
  const { from, bytes } = placed(inside);
  const end = unquote(from, from + bytes);
  return end === 0 ? null : textAt(from, end);
}

function parsed(inside: string): string | null {
  if (/(?<!\\)(?:\\\\)*\\u/.test(inside)) return null;
  try {
    return JSON.parse(`"${inside}"`) as string;
  } catch {
    return null;
  }
}

const pieces = fc.oneof(
  fc.constantFrom("a", "lorem ipsum dolor sit amet", "é", "— ", "😀", "\u2028", "\u007f", "\ufeff", "\u00a0", " "),
  fc.constantFrom("\n", "\r", "\t", "\b", "\f", '"', "\\", "/", "\0", "\u000b", "\u001f"),
  fc.string({ unit: "binary", maxLength: 12 }),
);
const text = fc.array(pieces, { maxLength: 12 }).map((all) => all.join("").toWellFormed());

test("a text is quoted as JSON.stringify does, unless that needs a number", () => {
  fc.assert(
    fc.property(text, fc.nat(16), (given, to) => {
      const inside = JSON.stringify(given).slice(1, -1);
      expect(quoted(given, 8 + to)).toBe(/[^\n\r\t\b\f -\u{10ffff}]/u.test(given) ? null : inside);
    }),
    runs(2_000),
  );
});

test("a text with a lone surrogate, as the engine gives its bytes, is not quoted", () => {
  const [last, lone] = [Uint8Array.of(0xed, 0x9f, 0xbf), Uint8Array.of(0xed, 0xa0, 0x80)];
  for (let before = 0; before < 20; before++) {
    for (const behind of [0, 9]) {
      const around = (bytes: Uint8Array): Uint8Array =>
        Buffer.concat([Buffer.alloc(before, "a"), bytes, Buffer.alloc(behind, "b")]);
      expect(quoted(around(lone))).toBeNull();
      expect(quoted(around(last))).toBe(`${"a".repeat(before)}\ud7ff${"b".repeat(behind)}`);
    }
  }
});

const insides = fc.oneof(
  pieces,
  fc.constantFrom("\\n", "\\r", "\\t", "\\b", "\\f", '\\"', "\\\\", "\\/", "\\u0041", "\\u", "\\x", "\\'", "\\\n"),
);

test("the inside of a string is read as JSON.parse does, unless it has a number or is no inside", () => {
  fc.assert(
    fc.property(
      fc.array(insides, { maxLength: 12 }).map((all) => all.join("").toWellFormed()),
      (inside) => {
        expect(unquoted(inside)).toBe(parsed(inside));
      },
    ),
    runs(2_000),
  );
});

/** A policy's text is refused exactly if one object has a key twice. */
import fc from "fast-check";
import { test } from "vitest";

import { readJson, UnusablePolicy } from "../../host/plugins/policy/read-json.ts";
import { unknown } from "../../shared/zod.ts";

/** Texts that look like parts of JSON, and few enough that they often repeat. */
const texts = fc.constantFrom("", "a", "b", '"', '"a":', "{", "}", "\\", '\\"', "a\\", ":", "__proto_", "\u2028", "ä");

type Tree = string | readonly Tree[] | { readonly pairs: readonly (readonly [string, Tree])[] };

const { tree } = fc.letrec<{ tree: Tree }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    texts,
    fc.array(tie("tree"), { maxLength: 3 }),
    fc.record({ pairs: fc.array(fc.tuple(texts, tie("tree")), { maxLength: 4 }) }),
  ),
}));

/** The text as JSON. If `space` is a tab, its first character is an escape. */
function quoted(text: string, space: string): string {
  const plain = JSON.stringify(text);
  if (space !== "\t" || text === "") return plain;
  return `"\\u${text.charCodeAt(0).toString(16).padStart(4, "0")}${JSON.stringify(text.slice(1)).slice(1)}`;
}

function write(value: Tree, space: string): string {
  if (typeof value === "string") return quoted(value, space);
  if (!("pairs" in value)) return `[${value.map((each) => write(each, space)).join(`,${space}`)}]`;
  const entries = value.pairs.map(([key, each], at) => {
    const name = quoted(key, at % 2 === 0 ? space : "");
    return `${name}${space}:${space}${write(each, space)}`;
  });
  return `{${space}${entries.join(`${space},`)}}`;
}

function hasTwice(value: Tree): boolean {
  if (typeof value === "string") return false;
  if (!("pairs" in value)) return value.some(hasTwice);
  const keys = value.pairs.map(([key]) => key);
  return new Set(keys).size < keys.length || value.pairs.some(([, each]) => hasTwice(each));
}

test("a text is refused exactly if an object has a key twice", () => {
  const spaces = fc.constantFrom("", " ", "\n", "\t");
  fc.assert(
    fc.property(tree, spaces, (value, space) => {
      const text = write(value, space);
      JSON.parse(text);
      return isRefused(text) === hasTwice(value);
    }),
    { numRuns: 20_000 },
  );
});

function isRefused(text: string): boolean {
  try {
    readJson(text, unknown(), "object");
    return false;
  } catch (error) {
    if (error instanceof UnusablePolicy && error.message.endsWith("twice in one object")) return true;
    throw error;
  }
}

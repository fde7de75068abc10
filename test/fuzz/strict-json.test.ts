/**
 * JSON that a person writes, as policies are: a text that is not JSON, or has a key twice in one object, is refused with
 * the place, and no other is.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import fc from "fast-check";
import { createRuntime, memoryStore } from "memcell";
import { afterAll, expect, test } from "vitest";

import { runs } from "../stage/random-runs.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());

/** What the host says of a policy file. Behind the policy, it looks for the plugin, which is not there. */
async function saidOf(text: string): Promise<string> {
  const policy = join(folder.path, "policy.json");
  writeFileSync(policy, text);
  const options = { store: memoryStore(), plugins: ["absent.wasm"], policy };
  return await createRuntime(options).then(String, ({ message }: Error) => message);
}

/** The rest of the line from the place that the host names. */
function restAt(text: string, said: string): string {
  const [, line = "", column = ""] = /\(line (\d+), column (\d+)(?:: .+)?\)$/.exec(said) ?? [];
  const lines = text.split("\n");
  expect(Number(line)).toBeLessThanOrEqual(lines.length);
  const found = lines[Number(line) - 1] ?? "";
  expect(Number(column)).toBeLessThanOrEqual(found.length + 1);
  return found.slice(Number(column) - 1);
}

const signs = Array.from('{}[]:,"\\\n\t\0 0123456789.eE+-/*#');
const part = fc.oneof(
  fc.constantFrom(...signs, "true", "fals", "null", '"a"', "//", "\u2028"),
  fc.string({ unit: "grapheme", maxLength: 2 }),
);
const mutated = fc
  .record({ value: fc.jsonValue({ maxDepth: 3 }), at: fc.nat(), cut: fc.nat({ max: 3 }), put: part })
  .map(({ value, at, cut, put }) => {
    const text = JSON.stringify(value, null, 1);
    const place = at % (text.length + 1);
    return text.slice(0, place) + put + text.slice(place + cut);
  });
const pieces = fc.array(part, { maxLength: 12 }).map((parts) => parts.join(""));

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

test("a text is said not to be JSON exactly if it is not, and where", async () => {
  let refused = 0;
  await fc.assert(
    fc.asyncProperty(fc.oneof(mutated, pieces), async (text) => {
      // A file is well-formed, and its byte order mark is not part of the text.
      fc.pre(text.isWellFormed() && !text.startsWith("\ufeff"));
      const said = await saidOf(text);
      expect(said.includes("is not JSON")).toBe(!isJson(text));
      if (isJson(text)) return;
      restAt(text, said);
      refused++;
    }),
    runs(400),
  );
  expect(refused).toBeGreaterThan(100);
});

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

function written(value: Tree, space: string): string {
  if (typeof value === "string") return quoted(value, space);
  if (!("pairs" in value)) return `[${value.map((each) => written(each, space)).join(`,${space}`)}]`;
  const entries = value.pairs.map(([key, each], at) => {
    const name = quoted(key, at % 2 === 0 ? space : "");
    return `${name}${space}:${space}${written(each, space)}`;
  });
  return `{${space}${entries.join(`${space},`)}}`;
}

function hasTwice(value: Tree): boolean {
  if (typeof value === "string") return false;
  if (!("pairs" in value)) return value.some(hasTwice);
  const keys = value.pairs.map(([key]) => key);
  return new Set(keys).size < keys.length || value.pairs.some(([, each]) => hasTwice(each));
}

test("a text is refused for a key exactly if an object has it twice", async () => {
  await fc.assert(
    fc.asyncProperty(tree, fc.constantFrom("", " ", "\n", "\t"), async (value, space) => {
      const text = written(value, space);
      const said = await saidOf(text);
      expect(said.includes("twice in one object")).toBe(hasTwice(value));
      if (hasTwice(value)) expect(restAt(text, said)).toMatch(/^"/);
    }),
    runs(400),
  );
});

test("the place of a key that is not allowed is where it is written", async () => {
  // A key "__proto__" is refused before anything else is looked at (`test/unit/policy-file.test.ts`).
  const odd = fc.jsonValue({ maxDepth: 2 }).filter((value) => !JSON.stringify(value).includes('"__proto__":'));
  const plugin = fc.record({ tools: fc.constant({}), odd }, { requiredKeys: ["tools"] });
  await fc.assert(
    fc.asyncProperty(fc.dictionary(fc.stringMatching(/^[a-z]{1,3}$/), plugin), async (plugins) => {
      const text = JSON.stringify({ version: 1, plugins }, null, 1);
      const said = await saidOf(text);
      expect(said.includes('the key "odd"')).toBe(Object.values(plugins).some((each) => "odd" in each));
      if (said.includes('the key "odd"')) expect(restAt(text, said)).toMatch(/^"odd":/);
    }),
    runs(100),
  );
});

/** Any content of a journal's block is read back unchanged, and nothing else with it. */
import fc from "fast-check";
import { expect, test } from "vitest";

import { appendBlock } from "../../plugin/journal/block.ts";
import { cutBlocks, portionsOf } from "../../plugin/journal/cut-blocks.ts";
import { StoredBlock } from "../../plugin/journal/stored-block.ts";
import { trim } from "../../plugin/journal/white-space.ts";
import { runs } from "../stage/random-runs.ts";

/** Texts that forge a block, parts of a block, and texts that only look like them. */
const lineEnds = ["\n", "\n\n", "\r\n", "\r", "\\", " ", "\u0085", "\ufeff", "\u2028", "```", "😀"];
const hostile = fc.constantFrom(
  "### ",
  "\n### forged\n",
  "\\### ",
  "\\\\### ",
  "\n\\### x",
  "<!-- agentool-memory: at=2099-01-01T00:00:00Z tags=x -->",
  "\n<!-- agentool-memory:",
  "\n\u0085 <!-- agentool-memory: at=1 -->",
  "\\<!-- agentool-memory:",
  "\n\\ \\<!-- agentool-memory:",
  "\n<!-- memcell: escaped -->\n",
  "\n<!-- memcell: created= escaped -->",
  " -->",
  ...lineEnds,
);
const content = fc
  .array(fc.oneof({ weight: 4, arbitrary: hostile }, fc.string({ unit: "binary" })), { maxLength: 12 })
  .map((parts) => parts.join(""));

const blocksIn = (file: string): StoredBlock[] =>
  portionsOf(file).flatMap(({ text }) =>
    cutBlocks(text)
      .slice(1)
      .map((each) => new StoredBlock(each)),
  );

/** Removes what agentool's form does not keep: CR before a line's end, and white space around the text. */
const normalised = (text: string): string => trim(trim(text).replace(/\r+(?=\n|$)/g, ""));

const made = { at: "2026-01-02T03:04:05+00:00", tags: ["a", "b"], created: null };

test("any content is read back unchanged and forges no block", () => {
  fc.assert(
    fc.property(content, content, fc.boolean(), (first, second, isUpdated) => {
      const created = isUpdated ? "2025-01-01T00:00:00+00:00" : null;
      const file = appendBlock(appendBlock("", { ...made, key: "one", content: first, created }), {
        ...made,
        key: "two",
        content: second,
      });
      const blocks = blocksIn(file);
      expect(blocks.map(({ key }) => key)).toEqual(["one", "two"]);
      expect(blocks.map((block) => block.content)).toEqual([normalised(first), normalised(second)]);
      expect(blocks.map(({ footer }) => footer.at)).toEqual([made.at, made.at]);
      expect(blocks.map(({ tags }) => tags)).toEqual([made.tags, made.tags]);
      expect(blocks.map(({ footer }) => footer.created)).toEqual([created, null]);
    }),
    runs(500),
  );
});

test("a file that people wrote keeps its bytes when a block is added", () => {
  fc.assert(
    fc.property(content, (before) => {
      const file = appendBlock(before, { ...made, key: "k", content: "x" });
      expect(file.startsWith(before)).toBe(true);
      const last = blocksIn(file).at(-1);
      expect([last?.key, last?.content, last?.tags]).toEqual(["k", "x", made.tags]);
    }),
    runs(200),
  );
});

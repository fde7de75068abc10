/**
 * Sentences in other words: two translations of the New Testament, from Debian's packages. The texts are the verses of
 * the World English Bible. A question is the longest part of a verse of the King James Version.
 */
import { readFileSync } from "node:fs";
import { inflateSync } from "node:zlib";

import type { QuestionSet } from "./faq-sets.ts";

const folder = "/usr/share/sword/modules/texts/ztext";
export const verseFiles = { kjv: `${folder}/engKJV2006eb/nt.bzv`, web: `${folder}/engWEB2015eb/nt.bzv` } as const;

/** Up to here both number the verses alike. */
const versesMax = 7000;
/** A question from every fourth verse. */
const every = 4;

export function verses(): QuestionSet {
  const [texts, questions] = [versesIn(verseFiles.web), versesIn(verseFiles.kjv)];
  const both = texts
    .map((value, id) => ({ id, value, question: longestPart(questions[id] ?? "") }))
    .slice(0, versesMax);
  const present = both.filter(({ value }) => value !== "");
  return {
    name: "Verses of another translation",
    texts: present,
    questions: present.filter(({ id, question }) => id % every === 0 && question !== ""),
  };
}

/**
 * Reads a module of the SWORD project: an index of ten bytes for each verse (block, offset, size), an index of twelve
 * bytes for each block (offset, compressed size), and the compressed blocks.
 */
function versesIn(verseIndex: string): string[] {
  const [index, blockIndex, compressed] = ["bzv", "bzs", "bzz"].map((end) =>
    readFileSync(verseIndex.replace(/bzv$/, end)),
  );
  if (!index || !blockIndex || !compressed) throw new RangeError("A module has three files");
  const blocks = Array.from({ length: Math.floor(blockIndex.length / 12) }, (_, at) => {
    const [offset, size] = [blockIndex.readUInt32LE(at * 12), blockIndex.readUInt32LE(at * 12 + 4)];
    return size === 0 ? Buffer.alloc(0) : inflateSync(compressed.subarray(offset, offset + size));
  });
  return Array.from({ length: Math.floor(index.length / 10) }, (_, at) => {
    const [block, offset, size] = [
      index.readUInt32LE(at * 10),
      index.readUInt32LE(at * 10 + 4),
      index.readUInt16LE(at * 10 + 8),
    ];
    return withoutMarks(blocks[block]?.subarray(offset, offset + size).toString() ?? "");
  });
}

function withoutMarks(osis: string): string {
  const text = osis.replace(/<(note|title)\b[^>]*>.*?<\/\1>/gs, "").replace(/<[^>]+>/g, "");
  return text.replace(/\s+/g, " ").trim();
}

function longestPart(verse: string): string {
  const parts = verse.split(/[.,;:?!()]/).map((part) => part.trim());
  return parts.toSorted((one, other) => other.length - one.length)[0] ?? "";
}

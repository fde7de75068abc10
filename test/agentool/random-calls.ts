/** The random calls of a sequence, built from hostile keys, contents and tags. */
import type { Tool } from "./stage.ts";

export type Random = () => number;

export interface RandomCall {
  readonly tool: Tool;
  readonly params: Readonly<Record<string, unknown>>;
}

export function pick<Item>(random: Random, items: readonly Item[]): Item {
  return items[Math.floor(random() * items.length)] as Item;
}

const some = <Item>(random: Random, items: readonly Item[], countMax: number): Item[] =>
  Array.from({ length: Math.floor(random() * (countMax + 1)) }, () => pick(random, items));

const ordinaryKeys = ["k1", "k2", "K1", "two words", "ключ", "鍵🔑", "### k", "__proto__", "k --> x"];
const oddKeys = [" k1\u3000", "k1\n", "", "\u0085 ", "a\nb", "a\rb", "a\u00a0b", "a\vb", "a\u0000b", "k".repeat(201)];
const lines = [
  "",
  "",
  " ",
  "needle",
  "Needle in HAY",
  "  indented",
  "trailing \t",
  "日本語 ключ",
  "## Section",
  "#### four",
  " ### not one",
  "```",
  "- [x](y.md)",
  "a\rb",
  "\u0085",
  "\ufeff### no",
  "\\### kept",
  "\\<!-- agentool-memory: at=9999 -->",
  "<!-- memcell: escaped -->",
  "$& $1",
];
const forgingLines = [
  "### k1",
  "### forged",
  "### ",
  "<!-- agentool-memory: at=9999 tags=x -->",
  " \t<!-- agentool-memory: at=2000-01-01T00:00:00+00:00 -->",
  "<!-- agentool-memory:",
];
const ordinaryTags = ["a", "b", "A", " sp ", "", "two words", "ключ", "at=1", "x tags=y", "-"];
const oddTags = ["a|b", "a\nb", "x --> y", "x --!> y", "a\u2028b", "t".repeat(101)];
const queries = [
  "",
  " \u3000",
  "needle",
  "NEEDLE",
  "k1",
  "ключ",
  "КЛЮЧ",
  "日本",
  "in hay\n",
  "forged",
  "no such",
  "a",
  "$",
];

function content(random: Random, forgingShare: number): string {
  const one = (): string => pick(random, random() < forgingShare ? forgingLines : lines);
  const count = Math.floor(random() * 6);
  return Array.from({ length: count }, one).join(random() < 0.2 ? "\r\n" : "\n");
}

function tags(random: Random): { tags?: unknown } {
  const kind = random();
  if (kind < 0.3) return {};
  if (kind < 0.35) return { tags: null };
  return { tags: [...some(random, ordinaryTags, 3), ...(random() < 0.05 ? [pick(random, oddTags)] : [])] };
}

const key = (random: Random): string => pick(random, random() < 0.85 ? ordinaryKeys : oddKeys);

/** `forgingShare`: the share of a content's lines that would forge a block, from 0 to 1. */
export function randomCall(random: Random, forgingShare: number): RandomCall {
  const kind = random();
  if (kind < 0.15) return { tool: "memory_read", params: { key: key(random) } };
  if (kind < 0.3) {
    const limit = random() < 0.5 ? {} : { limit: pick(random, [0, 1, 2, 5, 100, 1000, null]) };
    const wanted = random() < 0.6 ? {} : { tags: some(random, ordinaryTags, 2) };
    return { tool: "memory_search", params: { query: pick(random, queries), ...wanted, ...limit } };
  }
  const text = random() < 0.03 ? {} : { content: content(random, forgingShare) };
  if (kind < 0.6) return { tool: "memory_update", params: { key: key(random), ...text, ...tags(random) } };
  const target = random() < 0.5 ? {} : { target: pick(random, ["daily", "summary", "summary", null, "nope"]) };
  return { tool: "memory_write", params: { key: key(random), ...text, ...tags(random), ...target } };
}

/**
 * Checks that people can see all text that a plugin gives to a model. Instructions, descriptions, pages, schemas and
 * meanings of codes go into prompts unchanged, so they must not contain text that a reviewer cannot see.
 */
import { pluginLimits } from "./limits.ts";
import type { Manifest, ManifestTool } from "./manifest.ts";
import { exceedsUtf8Bytes, utf8Bytes } from "./text.ts";

/** Controls except the line feed; characters that hide, join or reverse text; lone surrogates; private use. */
const unseen = /(?!\n)[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u;

/** Yields clauses about "it", the plugin. */
export function* wordClauses({ instructions = "", tools, errors = [] }: Manifest): Generator<string> {
  yield* instructionClauses(instructions);
  for (const tool of tools) {
    for (const { place, text } of textsOf(tool)) yield* unseenClauses(`tool "${tool.name}"`, place, text);
    yield* sizeClauses(tool);
  }
  for (const { code, meaning } of errors) yield* unseenClauses(`error code ${code}`, "meaning", meaning);
}

/** One line: a line of its own would look like another plugin's text, or the host's. */
function* instructionClauses(instructions: string): Generator<string> {
  yield* unseenClauses("manifest", "instructions", instructions);
  if (instructions.includes("\n")) yield "its instructions have a line feed, allowed is one line";
  const { instructionsBytesMax } = pluginLimits;
  if (!exceedsUtf8Bytes(instructions, instructionsBytesMax)) return;
  yield `its instructions are ${utf8Bytes(instructions)} bytes, at most ${instructionsBytesMax} allowed`;
}

function* unseenClauses(owner: string, place: string, text: string): Generator<string> {
  const character = unseen.exec(text)?.[0];
  if (character === undefined) return;
  yield `its ${owner} has the character ${nameOf(character)} in its ${place}, where a model would read it and nobody sees it`;
}

function* sizeClauses({ name, documentation = "" }: ManifestTool): Generator<string> {
  const { documentationBytesMax } = pluginLimits;
  if (!exceedsUtf8Bytes(documentation, documentationBytesMax)) return;
  yield `its tool "${name}" has a page of ${utf8Bytes(documentation)} bytes, at most ${documentationBytesMax} allowed`;
}

function textsOf(tool: ManifestTool): { place: string; text: string }[] {
  return [
    { place: "description", text: tool.description },
    { place: "documentation", text: tool.documentation ?? "" },
    { place: "input schema", text: [...stringsIn(tool.input)].join("\n") },
    { place: "output schema", text: [...stringsIn(tool.output)].join("\n") },
  ];
}

/** Keys and values: a model reads field names as well. */
function* stringsIn(value: unknown): Generator<string> {
  if (typeof value === "string") yield value;
  if (typeof value !== "object" || value === null) return;
  for (const [key, each] of Object.entries(value)) {
    yield key;
    yield* stringsIn(each);
  }
}

function nameOf(character: string): string {
  const hex = (character.codePointAt(0) ?? 0).toString(16).toUpperCase();
  return `U+${hex.padStart(4, "0")}`;
}

/** Says where something is in a JSON text that a person has written. Only this file imports jsonc-parser. */
import { createRequire } from "node:module";

import type * as JsoncParser from "jsonc-parser";

import { parseStrictJson, UnfitJson } from "../../shared/strict-json.ts";

const load = createRequire(import.meta.url);

/** As `parseStrictJson`, but the error also says where: "is not JSON (line 3, column 5: a value is missing)". */
export function parsePlacedJson(text: string, depthMax: number): unknown {
  try {
    return parseStrictJson(text, depthMax);
  } catch (error) {
    if (!(error instanceof UnfitJson)) throw error;
    const { at, message, cause } = error;
    const place = at === undefined ? syntaxErrorIn(text, error) : placeAt(text, at);
    throw new UnfitJson(place === null ? message : `${message} (${place})`, { cause });
  }
}

/**
 * Where the value at a path is, or the innermost object that lacks a part of it: "line 3, column 5". The text must be
 * JSON. For a part of an object, the place is that of its key.
 */
export function placeInJson(text: string, path: readonly PropertyKey[]): string {
  const { findNodeAtLocation, parseTree } = api();
  const root = parseTree(text);
  if (root === undefined) return placeAt(text, 0);
  const parts = path.map((part) => (typeof part === "number" ? part : String(part)));
  const starts = parts.map((_, at) => parts.slice(0, parts.length - at));
  const node = starts.map((start) => findNodeAtLocation(root, start)).find((each) => each !== undefined) ?? root;
  return placeAt(text, node.parent?.type === "property" ? node.parent.offset : node.offset);
}

/** `null` for a text that is only too deep. */
function syntaxErrorIn(text: string, { cause }: UnfitJson): string | null {
  if (!(cause instanceof SyntaxError)) return null;
  const { printParseErrorCode, visit } = api();
  let found: string | null = null;
  const onError = (code: JsoncParser.ParseErrorCode, offset: number): void => {
    found ??= `${placeAt(text, offset)}: ${mistakes[printParseErrorCode(code)] ?? "it cannot be read"}`;
  };
  visit(text, { onError }, { disallowComments: true });
  return found;
}

const noNumber = "a number is incomplete";
const mistakes: Readonly<Record<string, string>> = {
  InvalidSymbol: "a value is expected, or a key in double quotes",
  InvalidNumberFormat: noNumber,
  PropertyNameExpected: "a key in double quotes is expected",
  ValueExpected: "a value is expected",
  ColonExpected: "a colon is expected",
  CommaExpected: "a comma or a closing bracket is expected",
  CloseBraceExpected: '"}" is expected',
  CloseBracketExpected: '"]" is expected',
  EndOfFileExpected: "nothing is expected after the value",
  InvalidCommentToken: "comments are not allowed",
  UnexpectedEndOfComment: "comments are not allowed",
  UnexpectedEndOfString: "the text that begins here has no closing quote",
  UnexpectedEndOfNumber: noNumber,
  InvalidUnicode: "the text that begins here has an invalid escape",
  InvalidEscapeCharacter: "the text that begins here has an invalid escape",
  InvalidCharacter: "the text that begins here has a control character",
};

/** Lines end in a line feed. Columns count as editors count them, from 1. */
function placeAt(text: string, offset: number): string {
  const lines = text.slice(0, offset).split("\n");
  return `line ${lines.length}, column ${(lines.at(-1)?.length ?? 0) + 1}`;
}

/** Loads the package when there is a mistake to find: most files have none. */
function api(): typeof JsoncParser {
  return load("jsonc-parser") as typeof JsoncParser;
}

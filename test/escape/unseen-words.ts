/** Manifest texts with characters that a model reads but a person cannot see, and the reason for each refusal. */
import type { ManifestTool } from "../../shared/manifest.ts";

export interface UnseenWords {
  readonly what: string;
  readonly changes: Partial<ManifestTool>;
  readonly reason: RegExp;
}

export const unseenWords: readonly UnseenWords[] = [
  {
    what: "a description that reverses the text's direction",
    changes: { description: "a\u202eb" },
    reason: /"Guest" has the character U\+202E in its desc/,
  },
  {
    what: "a description with a zero-width tag character",
    changes: { description: "a\u{e0041}" },
    reason: /"Guest" has the character U\+E0041 in its desc/,
  },
  {
    what: "a description that moves the cursor",
    changes: { description: "a\u001b[2J" },
    reason: /"Guest" has the character U\+001B in its desc/,
  },
  {
    what: "a page with a zero-width space",
    changes: { documentation: "a\u200bb" },
    reason: /"Guest" has the character U\+200B in its doc/,
  },
  {
    what: "a page with tabs",
    changes: { documentation: "a\tb" },
    reason: /"Guest" has the character U\+0009 in its doc/,
  },
  {
    what: "a page with half a character",
    changes: { documentation: "\ud83d" },
    reason: /"Guest" has the character U\+D83D in its doc/,
  },
  { what: "a page that is empty", changes: { documentation: "" }, reason: /"tools.0.documentation"/ },
  {
    what: "a page of 20,000 bytes",
    changes: { documentation: "é".repeat(10_000) },
    reason: /20000 bytes, at most 16384/,
  },
  {
    what: "a schema with an invisible field description",
    changes: { input: { properties: { a: { description: "\u2063" } } } },
    reason: /"Guest" has the character U\+2063 in its input schema/,
  },
  {
    what: "a schema with a field that looks like another",
    changes: { output: { properties: { "na\u00adme": {} } } },
    reason: /"Guest" has the character U\+00AD in its output schema/,
  },
];

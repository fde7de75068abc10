/**
 * Declares this family. The build derives the manifest from it; it is not part of the guest.
 *
 * It has no right at all: it gets text and returns text, so that no host has to parse what other programs keep as memory.
 */
import type { Family } from "../../shared/manifest.ts";
import { convertOutput } from "../../shared/roles.ts";
import { convertInput } from "./schemas.ts";

export const family: Family = {
  name: "move-in",
  version: "0.1.0",
  tools: [
    {
      name: "ConvertFiles",
      role: "convert",
      export: "convert_files",
      audience: "host",
      description:
        "Makes files of the family user-memory of what other programs keep as memory: Claude's memory tool, Claude Code, " +
        "basic-memory, Obsidian, mem0, the memories of ChatGPT and Claude as text, folders of Markdown. Text in, text out.",
      input: convertInput,
      output: convertOutput,
      scopes: [],
      rights: [],
    },
  ],
};

import type { AddInput, AddOutput } from "../../shared/roles.ts";
import type { Answer } from "../kit/serve-tool.ts";
import { ToolError } from "../kit/tool-error.ts";
import { entryLimits } from "./entry-limits.ts";
import { asIndexDescription, describedByText } from "./index-description.ts";
import { listEntryFiles } from "./memory-scope.ts";
import { freeName, nameFrom } from "./notes.deferred.ts";
import { upsertEntry } from "./upsert-entry.ts";

/** The role `add`: an entry of a person's text, named and described by it. No entry is replaced. */
export function addEntry({ text, name: given }: AddInput): Answer<AddOutput> {
  const taken = new Set(listEntryFiles().map((file) => file.name.toLowerCase()));
  if (given !== undefined && taken.has(given.toLowerCase()))
    throw new ToolError("NAME_CONFLICT", `Cannot add memory entry "${given}": the name is taken`);
  const said = describedByText(text, "");
  const name = given ?? freeName(nameFrom(said, entryLimits.nameOfTextCharsMax) || "note", (each) => taken.has(each));
  const description = asIndexDescription(said, name);
  const { message, data } = upsertEntry({ action: "upsert", name, type: "user", description, body: text });
  return { message, data: { name, path: data.path }, shows: [] };
}

/** The plugin's exports: one function for each tool that `family.ts` declares. Only wiring. */
import { entriesInput, indexInput, inspectInput } from "../../../plugin/kit/inputs.ts";
import { serveHostTool, serveTool } from "../../../plugin/kit/serve-tool.ts";
import { codePoints } from "../../../shared/text.ts";
import { readInput, writeInput } from "./schemas.ts";
import { readText, writeText } from "./text-file.ts";
import { inspectTexts } from "./text-inspection.ts";
import { indexOfTexts, listTexts } from "./text-list.ts";

export const sample_write = serveTool("sample_write", writeInput, ({ name, text }) => {
  writeText(name, text);
  return { message: `Kept text "${name}"`, data: { name, characters: codePoints(text) } };
});

export const sample_read = serveTool("sample_read", readInput, ({ name }) => ({
  message: `Text "${name}"`,
  data: { name, body: readText(name) },
}));

export const sample_index = serveHostTool("sample_index", indexInput, (room) => {
  const data = indexOfTexts(room);
  return { message: `${data.entriesShown} texts shown`, data };
});

export const sample_entries = serveHostTool("sample_entries", entriesInput, () => {
  const entries = listTexts();
  return { message: `${entries.length} texts`, data: { entries } };
});

export const sample_inspect = serveHostTool("sample_inspect", inspectInput, inspectTexts);

/** What the plugin exports: one function for each tool, as `family.ts` declares them. Nothing but wiring. */
import { rehearseInput } from "../../../plugin/parse-input.ts";
import { serveTool } from "../../../plugin/serve-tool.ts";
import { codePoints } from "../../../shared/text.ts";
import { readInput, writeInput } from "./schemas.ts";
import { readText, writeText } from "./text-file.ts";

rehearseInput(writeInput, { name: "a", text: "" });
rehearseInput(readInput, { name: "a" });

export function sample_write(): number {
  return serveTool("sample_write", writeInput, ({ name, text }) => {
    writeText(name, text);
    return { message: `Kept text "${name}"`, data: { name, characters: codePoints(text) } };
  });
}

export function sample_read(): number {
  return serveTool("sample_read", readInput, ({ name }) => ({
    message: `Text "${name}"`,
    data: { name, text: readText(name) },
  }));
}

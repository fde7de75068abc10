/** A text in its file: one file for each, so that no text can be taken for a part of another. */
import { Scope } from "../../../plugin/capabilities.ts";
import { ToolError } from "../../../plugin/tool-error.ts";

/** The scope is a folder in the user's own; `family.ts` declares it, and the host's policy grants it. */
const scope = new Scope("sample");

/** A name fits the grammar of paths: its schema sees to it. */
export const pathOf = (name: string): string => `${name}.txt`;

export function writeText(name: string, text: string): void {
  scope.write(pathOf(name), text);
}

/** Throws `TEXT_NOT_FOUND`, which `family.ts` declares. */
export function readText(name: string): string {
  const text = scope.read(pathOf(name));
  if (text === null) throw new ToolError("TEXT_NOT_FOUND", `Cannot read text "${name}": there is none of this name`);
  return text;
}

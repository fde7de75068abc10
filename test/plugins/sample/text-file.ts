/** A text in its file: one file for each, so that no text can be taken for a part of another. */
import { Scope } from "../../../plugin/capabilities.ts";
import { ToolError } from "../../../plugin/tool-error.ts";
import { nameGrammar } from "./schemas.ts";

/** The scope is a folder in the user's own; `family.ts` declares it, and the host's policy grants it. */
const scope = new Scope("sample");

/** A name fits the grammar of paths: its schema sees to it. */
export const pathOf = (name: string): string => `${name}.txt`;

/** The name of the text that lies at a path; `null` for a path at which this family keeps none. */
export function nameAt(path: string): string | null {
  const name = path.slice(0, -".txt".length);
  return path === pathOf(name) && nameGrammar.test(name) ? name : null;
}

export function writeText(name: string, text: string): void {
  scope.write(pathOf(name), text);
}

/** Throws `TEXT_NOT_FOUND`, which `family.ts` declares. */
export function readText(name: string): string {
  const text = scope.read(pathOf(name));
  if (text === null) throw new ToolError("TEXT_NOT_FOUND", `Cannot read text "${name}": there is none of this name`);
  return text;
}

/** All that lies in the scope, whoever has put it there; sorted. */
export function listPaths(): string[] {
  return scope.list().map(({ path }) => path);
}

/** Whether a file is there that is no text. What the host refuses to open, such as a link, it tells of itself. */
export function isUnreadable(path: string): boolean {
  try {
    scope.read(path);
    return false;
  } catch (error) {
    return error instanceof ToolError && error.code === "ENTRY_UNREADABLE";
  }
}

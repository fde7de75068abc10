/** A text in its own file, so that no text can be taken for a part of another. */
import { Scope } from "../../../plugin/kit/capabilities.ts";
import { ToolError } from "../../../plugin/kit/tool-error.ts";
import { nameGrammar } from "./schemas.ts";

/** The scope is a folder inside the user's folder. `family.ts` declares it, and the host's policy grants it. */
const scope = new Scope("sample");

/** The schema guarantees that a name is valid in a path. */
export const pathOf = (name: string): string => `${name}.txt`;

/** The name of the text at a path, or `null` for a path where this family keeps none. */
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

/** Every path in the scope, whoever wrote the file; sorted. */
export function listPaths(): string[] {
  return scope.list().map(({ path }) => path);
}

/** Whether the file is not text. The host itself reports files that it refuses to open, such as links. */
export function isUnreadable(path: string): boolean {
  try {
    scope.read(path);
    return false;
  } catch (error) {
    return error instanceof ToolError && error.code === "ENTRY_UNREADABLE";
  }
}

/**
 * The paths of Anthropic's memory tool: `/memories` and what is below it, in the caller's own store. What follows
 * `/memories/` is the key of the entry.
 */
import { quoted } from "../../../shared/text.ts";
import { breaksLine } from "../../kit/plain-line.ts";
import { ToolError } from "../../kit/tool-error.ts";
import { checkKey, faultOfKey, invalidPath } from "../memory-path.ts";

export interface FilePath {
  /** As it was given. */
  readonly shown: string;
  /** Empty for `/memories` itself. */
  readonly key: string;
  /** Whether it ends in a slash. Then it names the folder if a file has the same path. */
  readonly endsInSlash: boolean;
}

export const memoryRoot = "/memories";

/** Throws `INPUT_INVALID` for a path that no file can have, and `NAME_RESERVED` below `/memories/shared`. */
export function parseFilePath(path: string): FilePath {
  if (path === memoryRoot) return { shown: path, key: "", endsInSlash: false };
  if (!path.startsWith(`${memoryRoot}/`)) throw refused(`Path must start with /memories, got: ${shownPath(path)}`);
  const rest = path.slice(memoryRoot.length + 1);
  if (rest === "") return { shown: path, key: "", endsInSlash: true };
  const endsInSlash = rest.endsWith("/");
  const key = endsInSlash ? rest.slice(0, -1) : rest;
  refuseClimbing(path, key);
  const fault = faultOfKey(key);
  if (fault !== null) throw invalidPath(path, fault);
  checkKey(key);
  return { shown: path, key: key.normalize("NFC"), endsInSlash };
}

/** Nothing here decodes a path or takes a backslash for a slash. But no honest path needs such a part. */
function refuseClimbing(path: string, key: string): void {
  const decoded = key.replaceAll(/%(2e|2f|5c)/gi, (code) => decodeURIComponent(code)).replaceAll("\\", "/");
  const parts = decoded.split("/").filter((part) => part !== "" && part !== ".");
  if (!parts.includes("..")) return;
  let depth = 0;
  const leaves = parts.some((part) => (depth += part === ".." ? -1 : 1) < 0);
  throw refused(
    leaves
      ? `Path ${shownPath(path)} would escape /memories directory`
      : `Path ${shownPath(path)} has a part "..", allowed: paths without it`,
  );
}

const shownCharsMax = 300;

const shownPath = (path: string): string =>
  path.length > shownCharsMax || breaksLine.test(path) || !path.isWellFormed() ? quoted(path, shownCharsMax) : path;

const refused = (message: string): ToolError => new ToolError("INPUT_INVALID", message);

/** `/memories` is always there. */
export function refuseRoot({ key }: FilePath, command: "delete" | "rename"): void {
  if (key === "") throw new ToolError("NAME_RESERVED", `Cannot ${command} the /memories directory itself`);
}

/** What can be told of files that are to be imported without a look at what is there, or into what they say. */
import { storeLimits } from "../../shared/limits.ts";
import { isScopePath, trashFolder } from "../../shared/path.ts";
import { quoted } from "../../shared/text.ts";
import type { MemoryFile } from "../values/memory-file.ts";
import { ToolError } from "../values/tool-error.ts";
import type { RefusedFile } from "./memory-files.ts";

export const indexPath = "MEMORY.md";

const entryPath = /^[a-zA-Z0-9_-]{1,100}\.md$/;
const reserved = /^(memory|con|prn|aux|nul|com[0-9]|lpt[0-9])\.md$/i;

export type FileKind = "index" | "entry" | "trash";

/** What a path in a memory folder is for; `null` when it is for nothing that an import brings. */
export function kindOf(path: string): FileKind | null {
  if (path === indexPath) return "index";
  if (!isScopePath(path)) return null;
  if (path.startsWith(`${trashFolder}/`)) return "trash";
  return entryPath.test(path) && !reserved.test(path) ? "entry" : null;
}

/** Callers without types may pass anything. */
export function checkFiles(files: readonly MemoryFile[]): void {
  if (!Array.isArray(files)) throw new TypeError("An import needs a list of files");
  const areFiles = files.every((file) => typeof file?.path === "string" && file.content instanceof Uint8Array);
  if (!areFiles) throw new TypeError("An imported file needs a path, and its content as bytes");
}

/** Throws `QUOTA_EXCEEDED` for what no memory folder holds, before any of it is looked at. */
export function checkAmount(files: readonly MemoryFile[]): void {
  refuse(files.length, storeLimits.listEntriesMax, "files");
  const bytes = files.reduce((sum, { content }) => sum + content.length, 0);
  refuse(bytes, storeLimits.scopeBytesMax, "bytes");
}

function refuse(present: number, most: number, unit: string): void {
  if (present <= most) return;
  throw new ToolError("QUOTA_EXCEEDED", `Cannot import the memory: it has ${present} ${unit}, at most ${most} allowed`);
}

/** What is wrong with each file, and with all of them together. */
export function refusalsOf(files: readonly MemoryFile[]): RefusedFile[] {
  const byFolded = new Map<string, string>();
  const taken = new Set(files.map(({ path }) => path.toLowerCase()));
  return files.flatMap(({ path, content }): RefusedFile[] => {
    const earlier = byFolded.get(path.toLowerCase());
    byFolded.set(path.toLowerCase(), earlier ?? path);
    if (earlier === path) return [{ path, code: "NAME_CONFLICT", reason: "it is there twice" }];
    if (earlier !== undefined)
      return [{ path, code: "NAME_CONFLICT", reason: `it differs from ${quoted(earlier)} only by case` }];
    if (foldersOf(path.toLowerCase()).some((folder) => taken.has(folder)))
      return [{ path, code: "NAME_CONFLICT", reason: "another file has the name of its folder" }];
    return [...wrongPath(path), ...wrongSize(path, content.length)];
  });
}

function wrongPath(path: string): RefusedFile[] {
  const fault = faultOfPath(path);
  return fault === null ? [] : [{ path, ...fault }];
}

/** Why nothing of memory is kept under a path, or `null`: what an export would hold of it, no import would take. */
export function faultOfPath(path: string): Pick<RefusedFile, "code" | "reason"> | null {
  if (kindOf(path) !== null) return null;
  if (reserved.test(path)) return { code: "NAME_RESERVED", reason: "its name is reserved" };
  const reason = `it is none of ${indexPath}, <name>.md with a name that an entry can have, and ${trashFolder}/…`;
  return { code: "INPUT_INVALID", reason };
}

function wrongSize(path: string, bytes: number): RefusedFile[] {
  const { fileBytesMax } = storeLimits;
  if (bytes <= fileBytesMax) return [];
  return [{ path, code: "QUOTA_EXCEEDED", reason: `it is ${bytes} bytes, at most ${fileBytesMax} allowed` }];
}

/** The folders on the way to a path. */
function foldersOf(path: string): string[] {
  const parts = path.split("/").slice(0, -1);
  return parts.map((_, at) => parts.slice(0, at + 1).join("/"));
}

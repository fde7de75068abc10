/** What can be told of files that are to be imported without a look at what is there, or into what they say. */
import { storeLimits } from "../../shared/limits.ts";
import { scopeName } from "../../shared/path.ts";
import { quoted } from "../../shared/text.ts";
import { transferLimits } from "../archive/transfer-limits.ts";
import type { MemoryFile } from "../values/memory-file.ts";
import { ToolError } from "../values/tool-error.ts";
import { faultOfPath } from "./fit-paths.ts";
import type { PathFacts } from "./fit-paths.ts";
import type { RefusedFile } from "./memory-files.ts";

/** Callers without types may pass anything. */
export function checkFiles(files: readonly MemoryFile[]): void {
  if (!Array.isArray(files)) throw new TypeError("An import needs a list of files");
  const areFiles = files.every(
    (file) => typeof file?.scope === "string" && typeof file.path === "string" && file.content instanceof Uint8Array,
  );
  if (!areFiles) throw new TypeError("An imported file needs a scope, a path, and its content as bytes");
  const misnamed = files.find(({ scope }) => !scopeName.test(scope));
  if (misnamed)
    throw new TypeError(`An imported file has the scope ${quoted(misnamed.scope)}, which no scope is called`);
}

/** Files by scope, in the order of scopes. Throws `QUOTA_EXCEEDED` for what no user has, before any of it is looked at. */
export function filesByScope(files: readonly MemoryFile[]): [scope: string, files: readonly MemoryFile[]][] {
  refuse(files.length, transferLimits.filesMax, "files");
  refuse(bytesOf(files), transferLimits.exportBytesMax, "bytes");
  const groups = new Map<string, MemoryFile[]>();
  for (const file of files) {
    const group = groups.get(file.scope) ?? [];
    group.push(file);
    groups.set(file.scope, group);
  }
  for (const group of groups.values()) {
    refuse(group.length, storeLimits.listEntriesMax, "files");
    refuse(bytesOf(group), storeLimits.scopeBytesMax, "bytes");
  }
  return [...groups].toSorted(([a], [b]) => (a < b ? -1 : 1));
}

const bytesOf = (files: readonly MemoryFile[]): number => files.reduce((sum, { content }) => sum + content.length, 0);

function refuse(present: number, most: number, unit: string): void {
  if (present <= most) return;
  throw new ToolError("QUOTA_EXCEEDED", `Cannot import the memory: it has ${present} ${unit}, at most ${most} allowed`);
}

/** What is wrong with each file of a scope, and with all of them together. Paths are inside the scope. */
export function refusalsOf(files: readonly MemoryFile[], { unfit }: PathFacts): RefusedFile[] {
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
    const fault = faultOfPath(path) ?? unfit.get(path);
    return [...(fault ? [{ path, ...fault }] : []), ...wrongSize(path, content.length)];
  });
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

/** Checks files to import, without reading the user's files or parsing any content. */
import { foldedPath } from "../../shared/encoded-name.ts";
import { auditLimits, storeLimits } from "../../shared/limits.ts";
import { originClasses } from "../../shared/origin.ts";
import { foldersOf, isScopePath, scopeName, trashFolder } from "../../shared/path.ts";
import { counted, presentValue, quoted } from "../../shared/text.ts";
import * as z from "../../shared/zod.ts";
import { optionsFault } from "../values/known-fields.ts";
import type { ImportedFile, MemoryFile, UnreadFile } from "../values/memory-file.ts";
import { ToolError } from "../values/tool-error.ts";
import type { Pieces } from "../values/turns.ts";
import { aFunction } from "./field.ts";
import type { RefusedFile } from "./memory-files.ts";
import { checkScopes } from "./user-scopes.ts";

/** What `memoryFiles` accepts. */
export const memoryFilesExpected = `a list of files, each with a scope, a path, its content as bytes, or its number of bytes and a function that reads them, and perhaps a trust: one of ${originClasses.join(", ")}`;

const fileSchema = z
  .object({
    scope: z.string().check(z.regex(scopeName)),
    path: z.string(),
    content: z.optional(z.unknown().check(z.refine((content) => content instanceof Uint8Array))),
    bytes: z.optional(z.int().check(z.nonnegative())),
    read: z.optional(aFunction),
    trust: z.optional(z.enum(originClasses)),
  })
  .check(
    z.refine(({ content, bytes, read }) => (content === undefined) === (bytes !== undefined && read !== undefined)),
  );

/** What is wrong with files that are each a file, as a clause; `null` if nothing is. */
export function fileFault({ files }: { readonly files: readonly ImportedFile[] }): string | null {
  const known = { scope: true, path: true, content: true, bytes: true, read: true, trust: true } as const;
  for (const [at, file] of files.entries()) {
    const fault = optionsFault(file, known);
    if (fault !== null) return `files[${at}]: ${fault}`;
  }
  return null;
}

export const memoryFiles = z.array(fileSchema) as unknown as z.ZodMiniType<readonly ImportedFile[]>;

function unread(file: ImportedFile): UnreadFile {
  if (!("content" in file) || file.content === undefined) return file as UnreadFile;
  const { content, ...rest } = file;
  return { ...rest, bytes: content.length, read: async () => content };
}

/** The contents of a scope's files. Throws `INPUT_INVALID` if one is not as large as it was. */
export async function readFiles(files: readonly UnreadFile[]): Promise<MemoryFile[]> {
  const all: MemoryFile[] = [];
  for (const file of files) {
    const { scope, path, trust, bytes } = file;
    const content: unknown = await file.read();
    const isRead = content instanceof Uint8Array;
    if (!isRead || content.length !== bytes) {
      const reason = `it is read as ${isRead ? counted(content.length, "byte") : presentValue(content)}; expected ${counted(bytes, "byte")}`;
      throw new ToolError("INPUT_INVALID", `Cannot import the memory: ${quoted(`${scope}/${path}`)}: ${reason}`);
    }
    all.push({ scope, path, content, trust });
  }
  return all;
}

/**
 * Groups files by scope, sorted by scope. Throws `INPUT_INVALID` for an unknown scope, then `QUOTA_EXCEEDED` for more
 * than one scope may hold, before any path or content is checked.
 */
export function* filesByScope(
  files: readonly ImportedFile[],
  scopes: readonly string[] | undefined,
): Pieces<[scope: string, files: readonly UnreadFile[]][]> {
  const groups = new Map<string, UnreadFile[]>();
  for (const file of files) {
    yield;
    const group = groups.get(file.scope) ?? [];
    group.push(unread(file));
    groups.set(file.scope, group);
  }
  checkScopes("import", scopes, [...groups.keys()]);
  const asked = [...groups]
    .filter(([scope]) => scopes?.includes(scope) ?? true)
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
  for (const [scope, group] of asked) checkScope(scope, group);
  return asked;
}

/** A scope is in memory as a whole while it is planned, and while it is imported. */
function checkScope(scope: string, files: readonly UnreadFile[]): void {
  const live = files.filter(({ path }) => !path.startsWith(`${trashFolder}/`));
  for (const [sum, unit, most] of [
    [live.length, "files", storeLimits.listEntriesMax],
    // One record of the audit log has them all.
    [files.length, "files with its trash", auditLimits.recordFilesMax],
    [files.reduce((all, { bytes }) => all + bytes, 0), "bytes", storeLimits.scopeBytesMax],
  ] as const) {
    if (sum <= most) continue;
    const message = `Cannot import the memory: its scope "${scope}" has ${sum} ${unit}, at most ${most} allowed`;
    throw new ToolError("QUOTA_EXCEEDED", message);
  }
}

/** What is wrong with each file of a scope, and with all of them together. Paths are inside the scope. */
export function* refusalsOf(files: readonly UnreadFile[]): Pieces<RefusedFile[]> {
  const byFolded = new Map<string, string>();
  const taken = new Set(files.map(({ path }) => foldedPath(path)));
  const refused: RefusedFile[] = [];
  for (const { path, bytes } of files) {
    yield;
    const earlier = byFolded.get(foldedPath(path));
    byFolded.set(foldedPath(path), earlier ?? path);
    refused.push(...refusalOf(path, bytes, { earlier, taken }));
  }
  return refused;
}

function refusalOf(
  path: string,
  bytes: number,
  { earlier, taken }: { readonly earlier: string | undefined; readonly taken: ReadonlySet<string> },
): RefusedFile[] {
  if (earlier === path) return [{ path, code: "NAME_CONFLICT", reason: "it is there twice" }];
  if (earlier !== undefined)
    return [{ path, code: "NAME_CONFLICT", reason: `it differs from ${quoted(earlier)} only by case` }];
  if (foldersOf(foldedPath(path)).some((folder) => taken.has(folder)))
    return [{ path, code: "NAME_CONFLICT", reason: "another file has the name of its folder" }];
  if (!isScopePath(path)) return [{ path, code: "INPUT_INVALID", reason: "it is not a path inside a scope" }];
  const { fileBytesMax } = storeLimits;
  if (bytes <= fileBytesMax) return [];
  return [{ path, code: "QUOTA_EXCEEDED", reason: `it is ${bytes} bytes, at most ${fileBytesMax} allowed` }];
}

/** Checks files to import, without reading the user's files or parsing any content. */
import { foldedPath } from "../../shared/encoded-name.ts";
import { storeLimits } from "../../shared/limits.ts";
import { originClasses } from "../../shared/origin.ts";
import { foldersOf, isScopePath, scopeName, trashFolder } from "../../shared/path.ts";
import { quoted } from "../../shared/text.ts";
import * as z from "../../shared/zod.ts";
import { optionsFault } from "../values/known-fields.ts";
import type { MemoryFile } from "../values/memory-file.ts";
import type { Pieces } from "../values/turns.ts";
import type { RefusedFile } from "./memory-files.ts";
import { checkScope, checkTransfer } from "./transfer-bounds.ts";
import type { TransferSum } from "./transfer-bounds.ts";
import { checkScopes } from "./user-scopes.ts";

/** What `memoryFiles` accepts. */
export const memoryFilesExpected = `a list of files, each with a scope, a path, its content as bytes, and perhaps a trust: one of ${originClasses.join(", ")}`;

const fileSchema = z.object({
  scope: z.string().check(z.regex(scopeName)),
  path: z.string(),
  content: z.unknown().check(z.refine((content) => content instanceof Uint8Array)),
  trust: z.optional(z.enum(originClasses)),
});

/** What is wrong with files that are each a file, as a clause; `null` if nothing is. */
export function fileFault({ files }: { readonly files: readonly MemoryFile[] }): string | null {
  for (const [at, file] of files.entries()) {
    const fault = optionsFault(file, { scope: true, path: true, content: true, trust: true });
    if (fault !== null) return `files[${at}]: ${fault}`;
  }
  return null;
}

export const memoryFiles = z.array(fileSchema) as unknown as z.ZodMiniType<readonly MemoryFile[]>;

/**
 * Groups files by scope, sorted by scope. Throws `INPUT_INVALID` for an unknown scope, then `QUOTA_EXCEEDED` for more
 * than one import or one scope may hold, before any path or content is checked.
 */
export function* filesByScope(
  files: readonly MemoryFile[],
  scopes: readonly string[] | undefined,
): Pieces<[scope: string, files: readonly MemoryFile[]][]> {
  const groups = new Map<string, MemoryFile[]>();
  for (const file of files) {
    yield;
    const group = groups.get(file.scope) ?? [];
    group.push(file);
    groups.set(file.scope, group);
  }
  checkScopes("import", scopes, [...groups.keys()]);
  const asked = [...groups]
    .filter(([scope]) => scopes?.includes(scope) ?? true)
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
  checkTransfer(sumOf(asked.flatMap(([, group]) => group)), asked.length);
  for (const [scope, group] of asked) {
    const live = group.filter(({ path }) => !path.startsWith(`${trashFolder}/`));
    checkScope(scope, { ...sumOf(group), files: live.length });
  }
  return asked;
}

const sumOf = (files: readonly MemoryFile[]): TransferSum => ({
  files: files.length,
  bytes: files.reduce((sum, { content }) => sum + content.length, 0),
});

/** What is wrong with each file of a scope, and with all of them together. Paths are inside the scope. */
export function* refusalsOf(files: readonly MemoryFile[]): Pieces<RefusedFile[]> {
  const byFolded = new Map<string, string>();
  const taken = new Set(files.map(({ path }) => foldedPath(path)));
  const refused: RefusedFile[] = [];
  for (const { path, content } of files) {
    yield;
    const earlier = byFolded.get(foldedPath(path));
    byFolded.set(foldedPath(path), earlier ?? path);
    refused.push(...refusalOf(path, content.length, { earlier, taken }));
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

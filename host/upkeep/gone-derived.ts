import { isDerived } from "../../shared/derived-files.ts";
import { digestOf } from "../store/reading.ts";
import type { SizedChange } from "../values/change-set.ts";
import { beforeChanges } from "./file-chains.ts";
import type { FileChain } from "./file-chains.ts";
import type { Operation } from "./operation.ts";
import type { HeldPart } from "./user-scopes.ts";

interface Planned {
  readonly scope: string;
  readonly path: string;
  readonly outcome: "restored" | "trashed";
}

/**
 * Removes what plugins have made of the changes that are undone, where nothing else is left: an index that nobody had
 * before them would stay as an empty file. Nothing that others have written is in such a file.
 */
export async function goneDerived(
  operation: Operation,
  { reader }: HeldPart,
  { chains, files }: { readonly chains: readonly FileChain[]; readonly files: readonly Planned[] },
): Promise<SizedChange[]> {
  const { derivedFiles } = operation.tools;
  const removals: SizedChange[] = [];
  for (const scope of new Set(files.map((file) => file.scope))) {
    const ofScope = files.filter((file) => file.scope === scope);
    const trashed = new Set(ofScope.filter(({ outcome }) => outcome === "trashed").map(({ path }) => path));
    const left = (await reader.list(scope, "")).map(({ path }) => path).filter((path) => !trashed.has(path));
    const isMade = (path: string): boolean => isDerived(path, derivedFiles.get(scope) ?? []);
    if (trashed.size < ofScope.length || !left.every(isMade)) continue;
    const made = chains.filter((chain) => chain.scope === scope && left.includes(chain.path));
    const own: SizedChange[] = [];
    for (const chain of made) {
      const { path } = chain;
      const { before, present, builtOn } = beforeChanges(chain);
      const bytes = await reader.bytesOf(scope, path);
      if (before !== null || builtOn.length > 0 || bytes === null || digestOf(bytes) !== present) continue;
      own.push({ kind: "remove", scope, path, bytes: bytes.length });
    }
    if (own.length === left.length) removals.push(...own);
  }
  return removals;
}

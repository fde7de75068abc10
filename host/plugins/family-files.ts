/** What a manifest says about the files of its family: which are made from others, and which have an entry's name. */
import { isDerived } from "../../shared/derived-files.ts";
import type { Manifest, ManifestTool } from "../../shared/manifest.ts";
import { isTrashPath } from "../../shared/path.ts";
import { anyStore } from "../../shared/shared-scope.ts";
import { storeOfScope } from "../values/store-id.ts";

export interface FamilyFiles {
  /** Whether it says which files are derived: its tool with the role `inspect` does. */
  readonly isDeclared: boolean;
  readonly derived: readonly { readonly scopes: readonly string[]; readonly places: readonly string[] }[];
  /** `ends`: what stands before and behind an entry's name in the path of its file. */
  readonly named: readonly { readonly scopes: readonly string[]; readonly ends: readonly [string, string] }[];
}

interface Place {
  /** As calls name it. */
  readonly scope: string;
  readonly path: string;
}

/** As the plugin declares them, also for tools that a policy takes away. */
export const familyFiles = ({ tools }: Pick<Manifest, "tools">): FamilyFiles => ({
  isDeclared: tools.some(({ role }) => role === "inspect"),
  derived: tools.flatMap(({ scopes, derivedFiles: places }) => (places === undefined ? [] : [{ scopes, places }])),
  named: tools.flatMap(({ scopes, entryFile }) =>
    entryFile === undefined ? [] : [{ scopes, ends: endsOf(entryFile) }],
  ),
});

function endsOf(entryFile: NonNullable<ManifestTool["entryFile"]>): readonly [string, string] {
  const [before = "", behind = ""] = entryFile.split("{name}");
  return [before, behind];
}

export const isDerivedFile = ({ derived }: FamilyFiles, { scope, path }: Place): boolean =>
  derived.some(({ scopes, places }) => isOf(scopes, scope) && isDerived(path, places));

/** Whether a file can have an entry: what is derived repeats others, and the trash is in no answer. */
export const isEntryFile = (files: FamilyFiles, place: Place): boolean =>
  !isTrashPath(place.path) && !isDerivedFile(files, place);

/** The name of the entry that has the file; `null` if the plugin does not say, or keeps no entry there. */
export function entryNameAt({ named }: FamilyFiles, { scope, path }: Place): string | null {
  for (const { scopes, ends } of named) {
    const [before, behind] = ends;
    const isLong = path.length > before.length + behind.length;
    if (isLong && isOf(scopes, scope) && path.startsWith(before) && path.endsWith(behind)) {
      return path.slice(before.length, path.length - behind.length);
    }
  }
  return null;
}

const isOf = (scopes: readonly string[], scope: string): boolean =>
  scopes.includes(scope) || (scopes.includes(anyStore) && storeOfScope(scope) !== null);

/** The versions of a change of files, with the contents that they name. */
import type { Seen } from "../../values/change-set.ts";
import { ToolError } from "../../values/tool-error.ts";
import type { Pieces } from "../../values/turns.ts";
import { isOfEntries } from "../home.ts";
import { StaleCall } from "../plan-changes.ts";
import type { PlannedFile } from "../plan-changes.ts";
import { digestOf } from "../reading.ts";
import { planVersions } from "../versions/plan-versions.ts";
import type { PlannedVersion, VersionedChange, VersionGround } from "../versions/plan-versions.ts";
import { placeKey } from "../versions/present-origins.ts";
import type { WrittenContent } from "./history/content-bases.ts";
import type { HomeKind } from "./home.ts";
import type { ScopeFolders } from "./scope-folders.ts";

/** Of files that a change only reads, so many edits by hand become versions with it, and so many bytes of contents. */
const [readEditsMax, readEditsBytesMax] = [64, 1024 * 1024];

/** The versions of a change, and the contents that they name. */
export interface ChangeVersions {
  readonly versions: readonly PlannedVersion[];
  /** Contents of files that somebody has edited before the change. */
  readonly edited: readonly WrittenContent[];
  readonly written: readonly WrittenContent[];
}

/** Throws `StaleCall` if a file that somebody has edited is being edited. */
export function* planChangeVersions(
  ground: VersionGround,
  change: VersionedChange,
  { kind, folders }: { readonly kind: HomeKind; readonly folders: ScopeFolders },
): Pieces<ChangeVersions> {
  const planned: PlannedFile[] = [];
  const contents = new Map<string, PlannedFile["after"]>();
  for (const file of change.planned) {
    yield;
    if (!isOfEntries(kind, file.scope)) continue;
    planned.push(file);
    contents.set(placeKey(file), file.after);
  }
  const [seen, onlyRead]: [Seen[], Seen[]] = [[], []];
  for (const file of change.seen) {
    yield;
    if (isOfEntries(kind, file.scope)) (contents.has(placeKey(file)) ? seen : onlyRead).push(file);
  }
  for (const file of yield* editedAmong(onlyRead, ground, folders)) seen.push(file);
  const versions = yield* planVersions(ground, { ...change, planned, seen });
  const edited = versions.flatMap((each) => editedBy(each, folders));
  const written: WrittenContent[] = [];
  for (const each of versions) {
    yield;
    written.push(...writtenBy(each, contents));
  }
  return { versions, edited, written };
}

/** The files that somebody has edited before they were read. Of many or large ones, some are found later. */
function* editedAmong(seen: readonly Seen[], { origins }: VersionGround, folders: ScopeFolders): Pieces<Seen[]> {
  const edited: Seen[] = [];
  let bytes = 0;
  for (const file of seen) {
    yield;
    if (file.digest === (origins.of(file.scope, file.path)?.sha256 ?? null)) continue;
    const content = contentIn(folders, file.scope, file.path);
    // Somebody has edited it since.
    if (digestOf(content) !== file.digest) continue;
    bytes += content?.length ?? 0;
    if (bytes > readEditsBytesMax || edited.length >= readEditsMax) break;
    edited.push(file);
  }
  return edited;
}

/** `null` also if it cannot be read. */
export function contentIn(folders: ScopeFolders, scope: string, path: string): Buffer | null {
  try {
    return folders.read(scope, path);
  } catch (error) {
    if (error instanceof ToolError) return null;
    throw error;
  }
}

function editedBy({ version }: PlannedVersion, folders: ScopeFolders): WrittenContent[] {
  if (version.kind !== "edited" && version.kind !== "put back") return [];
  return version.files.flatMap(({ scope, path, sha256 }) => {
    if (sha256 === null) return [];
    const content = folders.read(scope, path);
    if (content === null || digestOf(content) !== sha256) throw new StaleCall();
    return [{ key: placeKey({ scope, path }), sha256, content }];
  });
}

/** The new contents. What was moved is there already. */
function writtenBy({ version }: PlannedVersion, contents: ReadonlyMap<string, PlannedFile["after"]>): WrittenContent[] {
  if (version.kind === "edited" || version.kind === "put back") return [];
  return version.files.flatMap(({ scope, path, sha256, from }) => {
    const key = placeKey({ scope, path });
    const content = contents.get(key) ?? null;
    return sha256 === null || from !== undefined || content === null ? [] : [{ key, sha256, content }];
  });
}

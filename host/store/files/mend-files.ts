/**
 * Mends what keeps calls from using a home's files. Only a person asks for this, who has read what was found. A mounted
 * folder is left alone: other programs use it, and can mean it so.
 *
 * - A file that has several names, as after `cp -al`, becomes a file of its own. A write to it would change the copy, and
 *   one lock would keep out the hosts of both. The other names are not looked for.
 * - An empty folder in the place of a file is removed.
 */
import { storeLimits } from "../../../shared/limits.ts";
import { isScopePath, isTrashPath, scopeName } from "../../../shared/path.ts";
import type { Directory } from "../../disk/directory.ts";
import { replaceFile } from "../../disk/replace-file.ts";
import { orInstead } from "../../values/tool-error.ts";
import type { FileHome } from "./home.ts";
import { journalLimits } from "./journal/format.ts";
import { journalFolder } from "./journal/segments.ts";
import { HomeFolder } from "./scope-folders.ts";
import { lockFile, lockHome, turnstileFile } from "./session-place.ts";
import type { Waiting } from "./session-place.ts";

const staged = "staged-separate";
/** The largest file of the host's own folder. */
const ownBytesMax = journalLimits.fileBytesMax;

/** Does nothing to a home without the host's own folder. Makes the lock file, if there is none. Throws as `lockHome` does. */
export async function mendFiles(home: FileHome, waiting: Waiting): Promise<void> {
  if (home.kind === "mount") return;
  using folder = HomeFolder.open(home);
  const own = folder?.openOwn() ?? null;
  if (folder === null || own === null) return;
  using _lock = await lockHome(own, home, { ...waiting, make: true, readOnlyWillDo: false, isLinked: true });
  // Whoever held the lock has erased the user meanwhile.
  if (!folder.isNamed) return;
  for (const { name, kind } of folder.home.entries()) {
    using scope = kind === "folder" && scopeName.test(name) ? folder.home.openFolder(name) : null;
    if (scope !== null) await mendBelow(own, scope, { above: "", bytesMax: storeLimits.fileBytesMax });
  }
  await mendBelow(own, own, { above: "", bytesMax: ownBytesMax });
  // Last: from then on, others can take the lock.
  for (const name of [turnstileFile, lockFile]) await separate(own, own, { name, bytesMax: ownBytesMax });
  await own.flush();
}

interface Mended {
  /** The path of the folder and a slash; empty for that of a scope. */
  readonly above: string;
  /** The largest file that is separated. */
  readonly bytesMax: number;
}

async function mendBelow(own: Directory, folder: Directory, { above, bytesMax }: Mended): Promise<void> {
  let isChanged = false;
  for (const { name, kind } of folder.entries()) {
    const path = above + name;
    if (!isScopePath(path) || (folder === own && isLock(name))) continue;
    if (kind === "file" && (await separate(own, folder, { name, bytesMax }))) isChanged = true;
    using below = kind === "folder" ? folder.openFolder(name) : null;
    if (below === null) continue;
    if (isInPlaceOfFile(below, path)) folder.removeFolder(name);
    else await mendBelow(own, below, { above: `${path}/`, bytesMax });
  }
  if (isChanged) await folder.flush();
}

/** Whether a folder is empty and has the name of a file. In the trash it is in nobody's way. */
export function isInPlaceOfFile(folder: Directory, path: string): boolean {
  return fileName.test(path) && !isTrashPath(path) && folder.entries().length === 0;
}

/** The names of the families' files. */
const fileName = /\.(?:md|txt|json|jsonl)$/;

const isLock = (name: string): boolean => name === lockFile || name === turnstileFile;

/** The copy is durable before it gets the name. Returns whether there was anything to do. */
async function separate(
  own: Directory,
  folder: Directory,
  { name, bytesMax }: { readonly name: string; readonly bytesMax: number },
): Promise<boolean> {
  if (!isLinked(folder, name, bytesMax)) return false;
  const like = folder.permissionsOf(name);
  using file = folder.openFile(name, name, "flush");
  if (file === null || like === null) return false;
  const content = file.read(0, file.size());
  await replaceFile(folder, name, { content, shown: name, like, staged, stagedIn: own });
  return true;
}

/** What `mendFiles` does with such a file, for findings. */
export const separation = "make it a file of its own";

/** The names of the host's own files that have several, as far as `mendFiles` reaches. */
export function linkedIn(own: Directory): string[] {
  const found = linkedFiles(own, "");
  using journal = orInstead(() => own.openFolder(journalFolder), null);
  return journal === null ? found : [...found, ...linkedFiles(journal, `${journalFolder}/`)];
}

const linkedFiles = (folder: Directory, above: string): string[] =>
  folder.entries().flatMap(({ name, kind }) => {
    const isOfOwn = kind === "file" && isScopePath(name) && isLinked(folder, name, ownBytesMax);
    return isOfOwn ? [above + name] : [];
  });

/** Whether a file has several names and is small enough to be copied. No call uses a larger one, whatever its names. */
export function isLinked(folder: Directory, name: string, bytesMax: number = storeLimits.fileBytesMax): boolean {
  const measured = folder.measure(name);
  return measured !== null && measured.names > 1 && measured.bytes <= bytesMax;
}

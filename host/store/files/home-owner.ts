import type { Directory } from "../../disk/directory.ts";
import { replaceFile } from "../../disk/replace-file.ts";
import { isUserId, ownStoreOf } from "../../values/ids.ts";
import type { UserId } from "../../values/ids.ts";
import { ToolError, orInstead } from "../../values/tool-error.ts";
import { foldsCase, twinOf } from "./folded-names.ts";
import { ignoreFile, shownAs } from "./home.ts";
import type { FileHome, HomeKind } from "./home.ts";
import { HomeFolder } from "./scope-folders.ts";

/**
 * Records the exact id of the folder's owner, in the host's own folder.
 *
 * Folder names differ for different ids. But on a disk that folds case, two ids that differ only in case would share a
 * folder: the record keeps the second user out. A mounted folder is not named after its user, so there only the record
 * keeps out another user of another host.
 */
const ownerFile = "owner";

/**
 * Whether a folder records its owner. Throws `STORAGE_UNSAFE` if it belongs to another. `own` is the `.memcell` in it, or
 * `null` if there is none.
 */
export function checkOwner(own: Directory | null, home: FileHome): boolean {
  const record = own?.read(ownerFile, ownerFile) ?? null;
  // An empty record says nothing, like none.
  const isRecorded = record !== null && record.length > 0;
  // A folder without a record was made by hand. It is the owner's if its name matches exactly.
  if (isRecorded ? record.toString("utf8").normalize("NFC") === home.owner : hasExactName(home)) return isRecorded;
  throw new ToolError("STORAGE_UNSAFE", `Cannot open ${shownAs[home.kind]}: it belongs to another ${idOf[home.kind]}`);
}

/** Opens a home that is the owner's; `null` if it has no folder. Throws `STORAGE_UNSAFE` if it belongs to another. */
export function openOwned(home: FileHome, openOwn = (folder: HomeFolder) => folder.openOwn()): HomeFolder | null {
  const folder = HomeFolder.open(home);
  try {
    if (folder !== null) checkOwner(openOwn(folder), home);
    return folder;
  } catch (error) {
    folder?.[Symbol.dispose]();
    throw error;
  }
}

/** The same for whoever erases it: a record that cannot be read counts as none. It can be what is wrong with the folder. */
export const openErasable = (home: FileHome): HomeFolder | null =>
  openOwned(home, (folder) =>
    orInstead(() => {
      const own = folder.openOwn();
      own?.read(ownerFile, ownerFile);
      return own;
    }, null),
  );

/** As `checkOwner`, but records the owner if there is no record. Durable once `own` is flushed. */
export async function claimOwner(own: Directory, home: FileHome): Promise<void> {
  if (checkOwner(own, home)) return;
  // Of a git repository around a mounted folder, the host's own is no part: locks and journals belong to this machine. The
  // file is made only once, before the owner is recorded, so that a person can remove it.
  if (home.kind === "mount" && own.identityOf(ignoreFile) === null) {
    own.create(ignoreFile, Buffer.from("*\n"), ignoreFile);
  }
  await recordText(own, ownerFile, home.owner);
}

/**
 * The user id of a store's owner, from the owner's first commit on. It opens nothing to anybody. Upkeep finds by it whose
 * store it is: most ids of stores do not tell. Nobody else's id is recorded: it would stay there when its user is erased.
 */
const creatorFile = "creator";

/** Records who commits to a store, if it is the owner. Durable once `own` is flushed. Leaves a record that is no file. */
export async function claimCreator(own: Directory, home: FileHome, creator: UserId): Promise<void> {
  if (ownStoreOf(creator) !== home.id) return;
  const recorded = orInstead(() => readCreator(own, home), "no file", "STORAGE_UNSAFE");
  if (recorded === creator || recorded === "no file") return;
  await recordText(own, creatorFile, creator);
}

/** Returns the user id in a store's record; `null` if there is none, or it is not the owner's. */
export function readCreator(own: Directory, { id }: FileHome): UserId | null {
  const text = own.read(creatorFile, creatorFile)?.toString("utf8") ?? "";
  const userId = text.normalize("NFC") as UserId;
  return isUserId(text) && ownStoreOf(userId) === id ? userId : null;
}

const recordText = (own: Directory, name: string, text: string): Promise<void> =>
  replaceFile(own, name, { content: Buffer.from(text), shown: name, staged: `staged-${name}` });

/** `false` if the disk folds case and the folder found under this name is another id's. */
function hasExactName({ root, names }: FileHome): boolean {
  const [above, name] = names;
  // A mounted folder is not named after its user.
  if (above === undefined || name === undefined) return true;
  using data = root.open();
  if (data === null || !foldsCase(data, above)) return true;
  using homes = data.openFolder(above);
  // An encoded capital differs by more than case.
  return homes === null || twinOf(homes, name, (each) => each.toLowerCase()) === null;
}

const idOf: Readonly<Record<HomeKind, string>> = { user: "user id", mount: "user id", store: "id" };

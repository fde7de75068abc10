/**
 * Which stores have perhaps granted something to a principal: an empty file for each, `.memcell/granted/<store>` in the
 * principal's own store. Only a hint, so that nobody has to read the grants of all stores.
 */
import type { DataRoot } from "../../../disk/data-root.ts";
import { systemCode } from "../../../disk/disk-failure.ts";
import { isStoreId } from "../../../values/store-id.ts";
import type { StoreId } from "../../../values/store-id.ts";
import { hintsMax } from "../../shared-stores.ts";
import { HomeFolder } from "../home-folder.ts";
import { checkOwner } from "../home-owner.ts";
import { grantedFolder, storeHome } from "../home.ts";

/** Hints to a principal that a store has granted something. */
export async function addHint(root: DataRoot, principal: StoreId, store: StoreId, isFlushed: boolean): Promise<void> {
  const home = storeHome(root, principal);
  await HomeFolder.make(home);
  using folder = HomeFolder.open(home);
  const own = folder?.openOwn() ?? null;
  if (folder === null || own === null) return;
  checkOwner(own, home);
  using granted = own.makeFolder(grantedFolder);
  if (granted.identityOf(store) !== null || granted.entries().length >= hintsMax) return;
  try {
    granted.create(store, new Uint8Array(), store);
  } catch (error) {
    if (systemCode((error as Error).cause) !== "EEXIST") throw error;
  }
  if (!isFlushed) return;
  await granted.flush();
  await folder.flush();
}

/** Takes a hint back. */
export function removeHint(root: DataRoot, principal: StoreId, store: StoreId): void {
  using folder = HomeFolder.open(storeHome(root, principal));
  using granted = folder?.openOwn()?.openFolder(grantedFolder) ?? null;
  if (granted !== null && granted.identityOf(store) !== null) granted.remove(store);
}

/** Returns the stores that the hints of a principal name, sorted. */
export function listHints(root: DataRoot, principal: StoreId): StoreId[] {
  using folder = HomeFolder.open(storeHome(root, principal));
  using granted = folder?.openOwn()?.openFolder(grantedFolder) ?? null;
  const names = granted?.entries().flatMap(({ name, kind }) => (kind === "file" && isStoreId(name) ? [name] : []));
  return (names ?? []).toSorted().slice(0, hintsMax);
}

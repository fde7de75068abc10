import { ownStoreName } from "../../shared/shared-scope.ts";
import { readSettings } from "../config/read-settings.ts";
import type { SettingFlags } from "../config/read-settings.ts";
import { storeIdOf } from "../values/ids.ts";

/**
 * A line that says where the files of the scope `store` are; nothing if none is shown, or if a database keeps them.
 * `shown`: scopes, or paths that begin with one.
 */
export async function storePlace(flags: SettingFlags, userId: string, shown: readonly string[]): Promise<string> {
  const isShown = shown.some((place) => place.split("/", 1)[0] === ownStoreName);
  const folder = isShown ? await storeFolder(flags, userId) : null;
  return folder === null ? "" : `store/ is ${folder}/entries/ in the data folder\n`;
}

/** The folder of the user's own store, below the data folder; `null` if a database keeps it. */
export async function storeFolder(flags: SettingFlags, userId: string): Promise<string | null> {
  const { store } = (await readSettings(flags)).values;
  return store === null ? `stores/${storeIdOf(userId)}` : null;
}

import { readSettings } from "../config/read-settings.ts";
import type { SettingFlags } from "../config/read-settings.ts";
import { storeIdOf } from "../values/ids.ts";

/**
 * A line that says where the files of the scope `store` are; nothing if `shown` names none of them, or if a database keeps
 * them.
 */
export async function storePlace(flags: SettingFlags, userId: string, shown: string): Promise<string[]> {
  if (!/(?:^| )store(?:\/|: )| {2}store {2}/m.test(shown)) return [];
  const { store } = (await readSettings(flags)).values;
  return store === null ? [`store/ is stores/${storeIdOf(userId)}/entries/ in the data folder`] : [];
}

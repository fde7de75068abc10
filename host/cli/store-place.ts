import { ownStoreName } from "../../shared/shared-scope.ts";
import { storeIdOf } from "../values/store-id.ts";

/**
 * A line that says where the files of the scope `store` are; nothing if none is shown. `shown`: scopes, or paths that
 * begin with one.
 */
export function storePlace(userId: string, shown: readonly string[]): string {
  const isShown = shown.some((place) => place.split("/", 1)[0] === ownStoreName);
  return isShown ? `store/ is stores/${storeIdOf(userId)}/entries/ in the data folder\n` : "";
}

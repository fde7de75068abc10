/** Whether the grants of a user's own store can be read: if not, nobody else reaches the store, and no tool says why. */
import { grantsIn } from "../sharing/grants-file.ts";
import { ownStoreOf } from "../values/store-id.ts";
import { ToolError } from "../values/tool-error.ts";
import type { Finding } from "./finding.ts";
import type { Operation } from "./operation.ts";

export async function grantsFindings(operation: Operation): Promise<Finding[]> {
  const own = ownStoreOf(operation.userId);
  try {
    await operation.holdStores([own], { writes: false, isLookingOnly: true }, (held) => grantsIn(held, own));
    return [];
  } catch (error) {
    if (!(error instanceof ToolError) || error.code !== "STORAGE_UNSAFE") throw error;
    const message = "it is not what a host writes, so nobody else reaches the store: remove it, and grant access again";
    return [{ problem: "grants-unreadable", path: `stores/${own}/.memcell/grants.json`, message, remedy: null }];
  }
}

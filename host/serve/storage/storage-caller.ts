/** Who makes a storage request. Only the verified identity decides. */
import type { Runtime } from "../../runtime/api.ts";
import type { CallContext } from "../../values/call-context.ts";
import { isStoreId, storeIdOf } from "../../values/ids.ts";
import type { ToolResult } from "../../values/tool-result.ts";
import type { StorageOptions } from "../serve-options.ts";
import { StorageRefusal, unfit } from "./storage-refusal.ts";

export interface StorageCaller {
  readonly runtime: Runtime;
  /** Of the verified user. */
  readonly ctx: CallContext;
  readonly options: StorageOptions;
}

export interface AgentFields {
  readonly agentId?: string | null | undefined;
  readonly store?: string | null | undefined;
}

/**
 * Checks an agent's id that the client has sent. Throws `storage-other-agent` if it is neither the verified user's nor
 * that of the user's own store: whoever sent it means another agent's memory.
 */
export function checkAgent({ ctx }: Pick<StorageCaller, "ctx">, agentId: AgentFields["agentId"]): void {
  if (!agentId || agentId === ctx.userId || agentId === storeIdOf(ctx.userId)) return;
  throw new StorageRefusal("storage-other-agent", "Access denied to this store");
}

/** The store that a request means: the caller's own, unless it names another. The call decides about access. */
export function storeIn(caller: StorageCaller, { agentId, store }: AgentFields): string {
  checkAgent(caller, agentId);
  const { userId } = caller.ctx;
  if (!store || store === userId) return storeIdOf(userId);
  if (isStoreId(store)) return store;
  throw unfit("The field store is no id of a store: a UUID in lower case");
}

/** Calls the tool as a model does. */
export const callMemory = ({ runtime, ctx }: StorageCaller, input: object): Promise<ToolResult> =>
  runtime.call("memory", input, ctx);

/** The path names the store also where it is the caller's own: no key can then be taken for another store. */
export const pathIn = (store: string, key = ""): string => `/memories/shared/${store}/${key}`;

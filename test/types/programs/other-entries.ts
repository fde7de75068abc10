/** The other entries of the package take a runtime, too. */
import { betaMemoryTool } from "@anthropic-ai/sdk/helpers/beta/memory";
import type { BetaRunnableTool } from "@anthropic-ai/sdk/lib/tools/BetaRunnableTool";
import type { CallContext, Runtime } from "memcell";
import { memoryTool } from "memcell/anthropic";
import { newEvent, RunHistory, userMessageData } from "memcell/run-history";
import { kvDelete, kvGet, kvSet } from "memcell/stores";

export const claudeMemory = (runtime: Runtime, ctx: CallContext): BetaRunnableTool =>
  betaMemoryTool(memoryTool(runtime, ctx));

export async function record(runtime: Runtime, ctx: CallContext): Promise<string> {
  const history = new RunHistory(runtime, ctx);
  await history.append("planner", "run-1", [newEvent(undefined, userMessageData({ message: "Hello" }))]);
  const { meta } = await history.load("planner", "run-1");
  return meta.cursor;
}

export async function changeTheme(runtime: Runtime, ctx: CallContext): Promise<unknown> {
  const stores = runtime.stores(ctx);
  const before = await kvGet(stores, "theme", { namespace: "app" });
  await kvSet(stores, "theme", "dark", { namespace: "app", ttl: 3_600 });
  const isDeleted: boolean = await kvDelete(stores, "theme");
  return isDeleted ? null : before;
}

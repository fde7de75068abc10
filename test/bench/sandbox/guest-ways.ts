/**
 * The tools' code in the guest, in this thread. The one file of the benchmark that knows how an instance is made: a new
 * way to make one is a further entry of the list.
 */
import { bundledPluginFiles, loadCatalog } from "../../../host/catalog.ts";
import { instantiatePlugin } from "../../../host/guest/extism-plugin.ts";
import type { FreshInstance } from "../../../host/guest/extism-plugin.ts";
import { GuestLog } from "../../../host/guest/guest-log.ts";
import { judgeOutcome } from "../../../host/guest/judge-outcome.ts";
import type { ToolCall, ToolWay } from "./tool-way.ts";

export async function guestWays(): Promise<ToolWay[]> {
  const { plugins } = await loadCatalog(await bundledPluginFiles());
  const [plugin] = plugins;
  if (!plugin) throw new RangeError("There is no plugin to measure");
  return [madeBeforehand(plugin.module), madeForTheCall(plugin.module)];
}

/** As the pool does it: the thread makes the next instance while it is idle. */
function madeBeforehand(module: WebAssembly.Module): ToolWay {
  let ready: FreshInstance | null = null;
  return {
    key: "fresh",
    name: "in the guest, fresh instance made beforehand",
    isOurs: true,
    prepare: async () => {
      ready = await instantiatePlugin(module);
    },
    run: async (call) => {
      if (!ready) throw new RangeError("No instance is ready");
      await runIn(ready, call);
      ready = null;
    },
  };
}

function madeForTheCall(module: WebAssembly.Module): ToolWay {
  return {
    key: "fresh-waiting",
    name: "in the guest, the call waits for its instance",
    isOurs: false,
    run: async (call) => runIn(await instantiatePlugin(module), call),
  };
}

async function runIn(instance: FreshInstance, { tool, exportName, input, environment }: ToolCall): Promise<void> {
  const { capabilities, record } = environment;
  const outcome = await instance.run(exportName, input, { capabilities, log: new GuestLog() });
  const envelope = judgeOutcome(tool, outcome, record);
  if (!envelope.ok) throw new Error(envelope.error.message);
}

/**
 * The tools' code in the guest, in this thread. Only this file of the benchmark knows how an instance is created. To
 * add a way, add an entry to the list.
 */
import { GuestInstance } from "../../../host/guest/extism-plugin.ts";
import type { GuestModule } from "../../../host/guest/guest-module.ts";
import { judgeOutcome } from "../../../host/guest/judge-outcome.ts";
import { GuestLog } from "../../../host/guest/kernel-functions.ts";
import { choosePlugins } from "../../../host/plugins/bundled-plugins.ts";
import { loadPolicy } from "../../../host/plugins/policy/load-policy.ts";
import { loadCatalog } from "../../support/load-catalog.ts";
import type { ToolCall, ToolWay } from "./tool-way.ts";

export async function guestWays(): Promise<ToolWay[]> {
  const { plugins } = await loadCatalog((await choosePlugins(["user-memory"], [])).named, await loadPolicy(undefined));
  const [plugin] = plugins;
  if (!plugin) throw new RangeError("There is no plugin to measure");
  const restored = { make: restoring(plugin.guest), name: "restored memory" };
  const fresh = { make: () => GuestInstance.create(plugin.guest, {}), name: "a fresh instance" };
  return [
    { ...madeBeforehand("restored", restored), isOurs: true },
    madeForTheCall("restored-waiting", restored),
    madeBeforehand("fresh", fresh),
    madeForTheCall("fresh-waiting", fresh),
  ];
}

/** How to get a pristine instance. */
interface Source {
  readonly name: string;
  readonly make: () => Promise<GuestInstance>;
}

/**
 * One instance, restored to its initial state for each call. As in the pool, it is created again if its memory has
 * grown.
 */
function restoring(guest: GuestModule): Source["make"] {
  let instance: GuestInstance | null = null;
  return async () => {
    if (instance && (await instance.restore())) return instance;
    instance = await GuestInstance.create(guest, {});
    return instance;
  };
}

/** As in the pool: the thread prepares the next instance while it is idle. */
function madeBeforehand(key: string, { make, name }: Source): ToolWay {
  let ready: GuestInstance | null = null;
  return {
    key,
    name: `in the guest, ${name} beforehand`,
    isOurs: false,
    prepare: async () => {
      ready = await make();
    },
    run: async (call) => {
      if (!ready) throw new RangeError("No instance is ready");
      await runIn(ready, call);
      ready = null;
    },
  };
}

function madeForTheCall(key: string, { make, name }: Source): ToolWay {
  return {
    key,
    name: `in the guest, the call waits for ${name}`,
    isOurs: false,
    run: async (call) => runIn(await make(), call),
  };
}

/** The way that a runtime's call takes, for the tools of one plugin. */
export async function restoredGuest(pluginName: string): Promise<ToolWay> {
  const { plugins } = await loadCatalog((await choosePlugins([pluginName], [])).named, await loadPolicy(undefined));
  const [plugin] = plugins;
  if (!plugin) throw new RangeError("There is no plugin to measure");
  return madeBeforehand("restored", { make: restoring(plugin.guest), name: "restored memory" });
}

async function runIn(instance: GuestInstance, { tool, exportName, input, environment }: ToolCall): Promise<void> {
  const { capabilities, record } = environment;
  const outcome = await instance.run(exportName, input, { capabilities, log: new GuestLog() });
  const envelope = judgeOutcome({ toolName: tool, errors: [] }, outcome, record);
  if (!envelope.ok) throw new Error(envelope.error.message);
}

/**
 * A tool's code in the guest, in this thread, with what the guest of one call can use: reads of a real folder, and staged
 * writes. Only this file of the benchmark knows how the host creates them.
 */
import { CapabilityTrail } from "../../../host/audit/collect/capability-trail.ts";
import { clearTrail, newTrail } from "../../../host/audit/collect/trail-memory.ts";
import { bindCapabilities } from "../../../host/guest/capabilities/bind-capabilities.ts";
import type {
  BoundCapabilities,
  CallParts,
  CapabilityRecord,
} from "../../../host/guest/capabilities/bind-capabilities.ts";
import { ReachedStores } from "../../../host/guest/capabilities/reached-stores.ts";
import { StagedChanges } from "../../../host/guest/capabilities/staged-changes.ts";
import { GuestInstance } from "../../../host/guest/extism-plugin.ts";
import { judgeOutcome } from "../../../host/guest/judge-outcome.ts";
import { GuestLog } from "../../../host/guest/kernel-functions.ts";
import { choosePlugins } from "../../../host/plugins/bundled-plugins.ts";
import { loadPolicy } from "../../../host/plugins/policy/load-policy.ts";
import { anyStore } from "../../../shared/shared-scope.ts";
import { openFileReaders } from "../../stage/store.ts";
import type { DecidedStores, UserId } from "../../stage/store.ts";
import { fullGrant } from "../../support/full-grant.ts";
import { loadCatalog } from "../../support/load-catalog.ts";

export type Capabilities = BoundCapabilities;

export interface CallEnvironment extends Disposable {
  readonly capabilities: Capabilities;
  readonly record: CapabilityRecord;
}

export interface ToolCall {
  readonly tool: string;
  readonly exportName: string;
  /** JSON text. */
  readonly input: string;
  readonly environment: CallEnvironment;
}

/** Where a tool's code runs. */
export interface ToolWay {
  readonly key: string;
  readonly name: string;
  /** Done before each call, not timed. */
  prepare?(): Promise<void>;
  /** Throws unless the tool succeeds. */
  run(call: ToolCall): Promise<void>;
}

/** The way that a runtime's call takes: an instance whose memory was restored before the call came. */
export async function restoredGuest(pluginName: string): Promise<ToolWay> {
  const { plugins } = await loadCatalog((await choosePlugins([pluginName], [])).named, await loadPolicy(undefined));
  const [plugin] = plugins;
  if (!plugin) throw new RangeError("There is no plugin to measure");
  let instance = await GuestInstance.create(plugin.guest, {});
  return {
    key: "ours",
    name: "in the guest, restored memory beforehand",
    // As in the pool, it is created again if its memory has grown.
    prepare: async () => {
      if (!(await instance.restore())) instance = await GuestInstance.create(plugin.guest, {});
    },
    run: async ({ tool, exportName, input, environment: { capabilities, record } }) => {
      const outcome = await instance.run(exportName, input, { capabilities, log: new GuestLog() });
      const envelope = judgeOutcome({ toolName: tool, errors: [] }, outcome, record);
      if (!envelope.ok) throw new Error(envelope.error.message);
    },
  };
}

/** Nothing is committed, so every call finds the same folder. */
export function callEnvironments(dataDir: string, scopes?: readonly string[]): (userId: string) => CallEnvironment {
  const readers = openFileReaders({ kind: "files", dir: dataDir, mounts: [] });
  return environments((userId) => {
    const grant = fullGrant(userId as UserId, scopes);
    return { grant, store: readers.openUser(grant.userId) };
  });
}

/** The same for a call that reaches shared stores, about which the host has decided. */
export function storeEnvironments(dataDir: string, stores: DecidedStores): () => CallEnvironment {
  const readers = openFileReaders({ kind: "files", dir: dataDir, mounts: [] });
  const environmentFor = environments((userId) => {
    const grant = { ...fullGrant(userId as UserId, [anyStore]), stores };
    return { grant, store: readers.openShared(), reached: new ReachedStores(stores, Date.now()) };
  });
  return () => environmentFor(stores.own);
}

function environments(
  openFor: (userId: string) => Pick<CallParts, "grant" | "store" | "reached">,
): (userId: string) => CallEnvironment {
  const trail = newTrail();
  return (userId) => {
    const record: CapabilityRecord = { denial: null, reported: new Set(), causes: [] };
    const parts = { ...openFor(userId), staged: new StagedChanges(), epochMs: Date.now() };
    clearTrail(trail);
    const capabilities = bindCapabilities(parts, record, new CapabilityTrail(trail));
    return { capabilities, record, [Symbol.dispose]: () => parts.store[Symbol.dispose]() };
  };
}

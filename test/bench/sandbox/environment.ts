/** What the guest of one call can use, as a worker thread creates it: reads of a real folder, and staged writes. */
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
import { anyStore } from "../../../shared/shared-scope.ts";
import { openFileReaders } from "../../stage/store.ts";
import type { DecidedStores, UserId } from "../../stage/store.ts";
import { fullGrant } from "../../support/full-grant.ts";

export interface CallEnvironment extends Disposable {
  readonly capabilities: BoundCapabilities;
  readonly record: CapabilityRecord;
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
    const dispose = (): void => parts.store[Symbol.dispose]();
    return { capabilities, record, [Symbol.dispose]: dispose };
  };
}

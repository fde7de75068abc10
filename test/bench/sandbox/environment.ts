/** What the guest of one call can use, as a worker thread creates it: reads of a real folder, and staged writes. */
import { CapabilityTrail } from "../../../host/audit/collect/capability-trail.ts";
import { TrailStock } from "../../../host/audit/collect/trail-memory.ts";
import { bindCapabilities } from "../../../host/guest/capabilities/bind-capabilities.ts";
import type { BoundCapabilities, CapabilityRecord } from "../../../host/guest/capabilities/bind-capabilities.ts";
import { StagedChanges } from "../../../host/guest/capabilities/staged-changes.ts";
import { openFileReaders } from "../../../host/store/files/open-files.ts";
import type { UserId } from "../../../host/values/user-id.ts";
import { fullGrant } from "../../support/full-grant.ts";

export interface CallEnvironment extends Disposable {
  readonly capabilities: BoundCapabilities;
  readonly record: CapabilityRecord;
}

/** Nothing is committed, so every call finds the same folder. */
export function callEnvironments(dataDir: string, scopes?: readonly string[]): (userId: string) => CallEnvironment {
  const readers = openFileReaders({ kind: "files", dir: dataDir, mounts: [] });
  const trails = new TrailStock();
  return (userId) => {
    const record: CapabilityRecord = { denial: null, reported: new Set(), causes: [] };
    const grant = fullGrant(userId as UserId, scopes);
    const store = readers.openUser(grant.userId);
    const parts = { grant, store, staged: new StagedChanges(), epochMs: Date.now() };
    const memory = trails.lease();
    const capabilities = bindCapabilities(parts, record, new CapabilityTrail(memory));
    const dispose = (): void => {
      trails.giveBack(memory);
      store[Symbol.dispose]();
    };
    return { capabilities, record, [Symbol.dispose]: dispose };
  };
}

/** Bounds on one call's capability requests, independent of its grant. */
import { expect, test } from "vitest";

import { bindCapabilities } from "../../host/guest/capabilities/bind-capabilities.ts";
import type { BoundCapabilities, CapabilityRecord } from "../../host/guest/capabilities/bind-capabilities.ts";
import { StagedChanges } from "../../host/guest/capabilities/staged-changes.ts";
import { callLimits, storeLimits } from "../../shared/limits.ts";
import { checkUserId } from "../stage/store.ts";
import { emptyFolder } from "../support/empty-folder.ts";
import { fullGrant } from "../support/full-grant.ts";

const scopes = ["first", "second"];

function openCall(): { capabilities: BoundCapabilities; record: CapabilityRecord } {
  const record: CapabilityRecord = { denial: null, reported: new Set(), causes: [] };
  const grant = fullGrant(checkUserId("alice"), scopes);
  const parts = { grant, store: emptyFolder, staged: new StagedChanges(), epochMs: 0 };
  return { capabilities: bindCapabilities(parts, record), record };
}

test("denies the request after the last allowed one, for every capability", () => {
  const { capabilities, record } = openCall();
  for (let asked = 0; asked < callLimits.hostCallsMax; asked++) {
    expect(capabilities.clock_now("{}")).toBe('{"ok":true,"epochMs":0}');
  }
  expect(record.denial).toBeNull();
  const reply = capabilities.store_read('{"scope":"first","path":"a.md"}');
  expect(JSON.parse(reply)).toMatchObject({ ok: false, error: { code: "CAPABILITY_DENIED" } });
  expect(record.denial?.message).toContain(String(callLimits.hostCallsMax));
});

test("limits what a call writes in all its scopes together", () => {
  const { capabilities } = openCall();
  const write = (scope: string, file: number): string =>
    capabilities.store_write(
      JSON.stringify({ scope, path: `${file}.md`, content: "x".repeat(storeLimits.fileBytesMax) }),
    );
  const fitting = callLimits.stagedBytesMax / storeLimits.fileBytesMax;
  for (let file = 0; file < fitting; file++) expect(write(scopes[file % 2] ?? "", file)).toBe('{"ok":true}');
  // Writing the same file again takes no more room.
  expect(write("first", 0)).toBe('{"ok":true}');
  expect(JSON.parse(write("second", 0))).toMatchObject({ ok: false, error: { code: "QUOTA_EXCEEDED" } });
});

import type { CallRunner, HoldLabel } from "../call/call-runner.ts";
import type { Store } from "../store/store.ts";
import type { UserId } from "../values/user-id.ts";
import { findingOf } from "./finding.ts";
import type { Finding } from "./finding.ts";

export interface PlacesOfUser {
  readonly store: Store;
  readonly runner: CallRunner;
  readonly userId: UserId;
  readonly label: HoldLabel;
  readonly signal: AbortSignal | undefined;
}

/** What the store finds in each place that has a lock of its own: the user's data folder, and what is mounted. */
export async function findingsInPlaces({ store, runner, userId, label, signal }: PlacesOfUser): Promise<Finding[]> {
  const found: Finding[] = [];
  for (const { scopes } of await store.parts(userId)) {
    const options = { scopes, writes: false, isLookingOnly: true, signal };
    const ofPart = await runner.hold(label, userId, options, (held) => held.findings());
    found.push(...ofPart.map(findingOf));
  }
  return found;
}

/**
 * The guest of the doctor, where a plugin has one, holds one place. What a crash has left in the others is finished by
 * whoever holds them.
 */
export async function mendPlaces(
  { store, runner, userId, label, signal }: PlacesOfUser,
  { isInspected }: { readonly isInspected: boolean },
): Promise<void> {
  const places = await store.parts(userId);
  if (places.length === 1 && isInspected) return;
  for (const { scopes } of places) {
    await runner.hold(label, userId, { scopes, writes: true, isThorough: true, signal }, async () => {});
  }
}

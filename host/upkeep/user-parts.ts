import type { CallRunner, HostWork } from "../call/call-runner.ts";
import type { Store, StoreFinding } from "../store/store.ts";

export interface PartsOfUser {
  readonly store: Store;
  readonly runner: CallRunner;
  readonly work: HostWork;
}

/** What the store finds in each part of the user. */
export async function findingsInParts({ store, runner, work }: PartsOfUser): Promise<StoreFinding[]> {
  const found: StoreFinding[] = [];
  for (const { scopes } of await store.parts(work.userId)) {
    const options = { scopes, writes: false, isLookingOnly: true };
    found.push(...(await runner.hold(work, options, (held) => held.findings())));
  }
  return found;
}

/**
 * The guest of the doctor, where a plugin has one, holds one part. What a crash has left in the others is finished by
 * whoever holds them.
 */
export async function mendParts(
  { store, runner, work }: PartsOfUser,
  { isInspected }: { readonly isInspected: boolean },
): Promise<void> {
  const parts = await store.parts(work.userId);
  if (parts.length === 1 && isInspected) return;
  for (const { scopes } of parts) {
    await runner.hold(work, { scopes, writes: true, isThorough: true }, async () => {});
  }
}

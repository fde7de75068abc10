/** Converts settings to mounts of one user. */
import { checkMounts, refuseLogIn } from "../store/files/check-mounts.ts";
import type { MountLocation } from "../store/store.ts";
import type { Settings } from "./read-settings.ts";
import { readMount } from "./setting.ts";
import { sourceText } from "./source.ts";
import { UsageError } from "./usage-error.ts";

/** Returns the mounts of `userId`. Throws `UsageError`; `why` explains in its message why `userId` is `undefined`. */
export function mountsFor(settings: Settings, userId: string | undefined, why = "no user is given"): MountLocation[] {
  const { values, sources } = settings;
  const mounts = values.mounts.flatMap((text) => readMount(text) ?? []);
  if (mounts.length === 0) return [];
  if (userId === undefined) {
    const told = `mounts (${sourceText(sources.mounts)})`;
    throw new UsageError(`${told} belong to one user, but ${why}, allowed: with --user`);
  }
  const ofUser = mounts.map(({ scope, dir }) => ({ userId, scope, dir }));
  try {
    const checked = checkMounts(ofUser, values.data);
    if (values.auditLog !== null) refuseLogIn(checked, values.auditLog);
    return checked;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : "the mounts cannot be used", { cause: error });
  }
}

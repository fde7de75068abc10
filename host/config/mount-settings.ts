/** From settings to the folders that are mounted: for one user, or not at all. */
import { checkMounts, refuseLogIn } from "../store/files/check-mounts.ts";
import type { MountLocation } from "../store/store.ts";
import { isUserId } from "../values/user-id.ts";
import type { Settings } from "./read-settings.ts";
import { readMount } from "./setting.ts";
import { sourceText } from "./source.ts";
import { UsageError } from "./usage-error.ts";

/** `undefined`: no user is named, and `why` tells what that means here. Throws `UsageError`. */
export function mountsFor(settings: Settings, userId: string | undefined, why = "no user is named"): MountLocation[] {
  const { values, sources } = settings;
  const mounts = values.mounts.flatMap((text) => readMount(text) ?? []);
  if (mounts.length === 0) return [];
  if (userId === undefined) {
    const told = `mounts (${sourceText(sources.mounts)})`;
    throw new UsageError(`${told} is a folder of one user, and ${why}, allowed: with --user`);
  }
  // Whatever is asked for such a user fails with a code, and nothing is opened.
  if (!isUserId(userId)) return [];
  const ofUser = mounts.map(({ scope, dir }) => ({ userId, scope, dir }));
  try {
    const checked = checkMounts(ofUser, values.data);
    if (values.auditLog !== null) refuseLogIn(checked, values.auditLog);
    return checked;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : "the mounts cannot be used", { cause: error });
  }
}

/** From settings to the folders that are mounted: for one user, or not at all. */
import { checkMounts, refuseLogIn } from "../store/files/check-mounts.ts";
import type { MountLocation } from "../store/store.ts";
import { isUserId } from "../values/user-id.ts";
import { readMount } from "./mount-text.ts";
import type { MountText } from "./mount-text.ts";
import type { Settings } from "./read-settings.ts";
import { sourceText } from "./source.ts";
import { UsageError } from "./usage-error.ts";

/** The scope that has a flag of its own: whoever works beside agentool mounts it every day. */
const journalScope = "journal";

/** `undefined`: no user is named, and `why` tells what that means here. Throws `UsageError`. */
export function mountsFor(settings: Settings, userId: string | undefined, why = "no user is named"): MountLocation[] {
  const { values, sources } = settings;
  const listed = values.mounts.flatMap((text) => readMount(text) ?? []);
  const { journal } = values;
  const all: MountText[] = journal === null ? listed : [...listed, { scope: journalScope, dir: journal }];
  if (all.length === 0) return [];
  const asked = journal === null ? "mounts" : "journal";
  const told = `${asked} (${sourceText(sources[asked])})`;
  if (userId === undefined) throw new UsageError(`${told} is a folder of one user, and ${why}, allowed: with --user`);
  // Whatever is asked for such a user fails with a code, and nothing is opened.
  if (!isUserId(userId)) return [];
  if (journal !== null && listed.some(({ scope }) => scope === journalScope)) {
    const also = `mounts (${sourceText(sources.mounts)})`;
    throw new UsageError(`${told} and ${also} both name a folder for the scope "${journalScope}", allowed: one`);
  }
  const mounts = all.map(({ scope, dir }) => ({ userId, scope, dir }));
  try {
    const checked = checkMounts(mounts, values.data);
    if (values.auditLog !== null) refuseLogIn(checked, values.auditLog);
    return checked;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : "the mounts cannot be used", { cause: error });
  }
}

import type { HeldHome } from "../store/held-homes.ts";
import { digestOf } from "../store/reading.ts";
import type { HeldHistory } from "../store/versions/present-origins.ts";
import type { Version, VersionHead, VersionKind } from "../store/versions/version.ts";
import type { Seen, SizedChange } from "../values/change-set.ts";
import type { Operation } from "./operation.ts";

/** Changes, and how the files were that they are made from. */
export interface MadeChanges {
  readonly changes: readonly SizedChange[];
  readonly seen: readonly Seen[];
}

/**
 * What an operation of the data's owner changes in a home: files that are written, moved to the trash or back, or removed
 * for good, and what plugins make anew of them. What it names and leaves, each operation says in its own words.
 */
export interface Plan extends MadeChanges {
  /** The last version when it was made. */
  readonly head: VersionHead;
}

/** A plan that is made from all that was read of a home. */
export const planFrom = (held: HeldHome, changes: readonly SizedChange[]): Plan => ({
  changes,
  seen: held.seen,
  head: held.history.state().head,
});

/** The same with what a plugin makes of it. */
export const withMade = <Own extends MadeChanges>(plan: Own, made: MadeChanges): Own => ({
  ...plan,
  changes: [...plan.changes, ...made.changes],
  seen: [...plan.seen, ...made.seen],
});

export interface Planning<Planned> {
  readonly scopes: readonly string[];
  readonly kind?: VersionKind | undefined;
  readonly plan: (operation: Operation) => Promise<Planned>;
  /** A plan that was made already. It counts if it would be the same now. Default: the first one is made here. */
  readonly made?: Planned | undefined;
  /** Whether a version is to be planned for as well, in whatever scopes it is. Default: none is. */
  readonly concerns?: (version: Version) => boolean;
}

/**
 * How often, and for which part of the time that it may wait, changes are planned while nothing is held. And for which part
 * it then waits at least, however long that took.
 */
const [freeAttemptsMax, freePart, heldPart] = [3, 0.25, 0.5] as const;

/**
 * Plans changes and commits them as one change set: all of them, or none. First plans while nothing is held, so that
 * plugins keep nobody waiting. If others change the same files again and again, plans in the user's turn, with everything
 * held: then nobody comes between. All waits together are as long as one may be.
 */
export async function applyPlan<Planned extends Plan>(
  asked: Operation,
  { scopes, kind, plan, made, concerns = () => false }: Planning<Planned>,
): Promise<Planned> {
  const operation = asked.bounded();
  for (let attempt = 1; attempt <= freeAttemptsMax && operation.waited < freePart; attempt++) {
    const planned = attempt === 1 && made !== undefined ? made : await plan(operation);
    if (planned.changes.length === 0) return planned;
    const isDone = await operation.hold("write", scopes, async (held) => {
      if (!(await isStill(held, planned, concerns))) return false;
      await operation.commit(held, planned.changes, kind);
      return true;
    });
    if (isDone) return planned;
  }
  return await operation.bounded(heldPart).hold("write", scopes, async (held, inside) => {
    const planned = await plan(inside);
    await operation.commit(held, planned.changes, kind);
    return planned;
  });
}

/** Whether a plan would be the same now: it depends on files of its scopes, and on versions of them. */
async function isStill(
  held: HeldHome,
  { changes, seen, head }: Plan,
  concerns: (version: Version) => boolean,
): Promise<boolean> {
  const scopes = new Set([...changes, ...seen].map(({ scope }) => scope));
  const later = await versionsAfter(head, held.history);
  const isOfPlan = (version: Version): boolean =>
    concerns(version) || version.files.some(({ scope }) => scopes.has(scope));
  if (later === null || later.some(isOfPlan)) return false;
  for (const { scope, path, digest } of seen) {
    if (digestOf(await held.bytesOf(scope, path)) !== digest) return false;
  }
  return true;
}

/** `null` if that cannot be told: another history has taken the place of the one that it was in. */
async function versionsAfter({ seq, hash }: VersionHead, history: HeldHistory): Promise<readonly Version[] | null> {
  const { head } = history.state();
  if (head.hash === hash) return [];
  return head.seq > seq ? (await history.versions()).filter((version) => version.seq > seq) : null;
}

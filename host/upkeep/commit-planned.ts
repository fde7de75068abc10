import { digestOf } from "../store/reading.ts";
import type { HeldReader } from "../store/store.ts";
import type { VersionKind } from "../store/versions/version.ts";
import type { Seen, SizedChange } from "../values/change-set.ts";
import { ToolError } from "../values/tool-error.ts";
import type { Operation } from "./operation.ts";

/** Changes of one part, and how everything was that they are made from. */
export interface PlannedChanges {
  readonly changes: readonly SizedChange[];
  readonly seen: readonly Seen[];
  /** The hash of the last version. */
  readonly head: string;
}

/**
 * How often changes are planned while others change the same files. A call of an agent takes some milliseconds, and
 * calls wait for their turn as this does.
 */
const attemptsMax = 16;

/**
 * Plans changes and commits them as one change set. Plans again if anybody has changed something in between: plugins
 * are asked while nothing is held. Throws `BUSY` if that does not end.
 */
export async function commitPlanned<Plan extends PlannedChanges>(
  operation: Operation,
  { scopes, kind }: { readonly scopes: readonly string[]; readonly kind: VersionKind },
  plan: () => Promise<Plan>,
): Promise<Plan> {
  for (let attempt = 1; attempt <= attemptsMax; attempt++) {
    const planned = await plan();
    if (planned.changes.length === 0) return planned;
    const isDone = await operation.hold({ scopes, writes: true }, async (held) => {
      if (held.history.head.hash !== planned.head || !(await isAsSeen(held.reader, planned.seen))) return false;
      await operation.commit(held, planned.changes, kind);
      return true;
    });
    if (isDone) return planned;
  }
  throw new ToolError("BUSY", `Cannot ${operation.action}: others change the user's files all the time`);
}

async function isAsSeen(reader: HeldReader, seen: readonly Seen[]): Promise<boolean> {
  for (const { scope, path, digest } of seen) {
    if (digestOf(await reader.bytesOf(scope, path)) !== digest) return false;
  }
  return true;
}

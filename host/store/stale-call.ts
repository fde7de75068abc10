import type { Seen } from "../values/change-set.ts";
import { ToolError } from "../values/tool-error.ts";
import type { PlannedFile } from "./plan-changes.ts";

/** Someone has changed the user's files since the call read them. The call is made again before this is reported. */
export class StaleCall extends ToolError {
  constructor() {
    super("BUSY", "Cannot change the user's files: they were being edited while the call ran");
  }
}

/** How often a call is made again when someone edits its files at the same time. */
const attemptsMax = 3;

/** Does a call's work again when it was stale. */
export async function untilFresh<Result>(work: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof StaleCall) || attempt === attemptsMax) throw error;
    }
  }
}

/** A file that someone has changed since the guest read it: its answer is not worth anything any more. */
export function refuseStale(planned: readonly PlannedFile[], seen: readonly Seen[]): void {
  const befores = new Map(planned.map(({ scope, path, before }) => [`${scope}:${path}`, before]));
  for (const { scope, path, digest } of seen) {
    const before = befores.get(`${scope}:${path}`);
    if (before !== undefined && before !== digest) throw new StaleCall();
  }
}

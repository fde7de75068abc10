/**
 * Hints to a principal: which stores have granted something, and until when. They only say where to look, so that nobody
 * has to read the grants of all stores. Who has access, the grants themselves say.
 */
import type { StoreId } from "../values/ids.ts";
import type { StoreGrant } from "../values/store-grant.ts";
import { ToolError } from "../values/tool-error.ts";

export type GrantTimes = Pick<StoreGrant, "grantedMs" | "expiresMs">;

export interface GrantHint extends GrantTimes {
  readonly store: StoreId;
  /** Whether the principal leaves the store out. */
  readonly isLeft: boolean;
}

/** How many stores can have granted something to one principal at a time, without those that it leaves out. */
const hintsMax = 1_000;

/** A grant ends at the millisecond that it names. */
export const isLive = ({ expiresMs }: Pick<GrantTimes, "expiresMs">, nowMs: number): boolean =>
  expiresMs === null || nowMs < expiresMs;

/**
 * Throws `QUOTA_EXCEEDED` if no further store can grant the principal something. Grants that have ended do not count, so
 * whoever wants to keep others out has to go on granting.
 */
export function checkRoom(hints: readonly GrantHint[], store: StoreId, nowMs: number): void {
  const others = hints.filter((each) => each.store !== store && !each.isLeft && isLive(each, nowMs));
  refuseFull(others.length);
}

/** Throws `QUOTA_EXCEEDED` if so many other stores have granted the principal something that no further one can. */
export function refuseFull(others: number): void {
  if (others < hintsMax) return;
  const present = `the grantee has grants of ${others} stores, at most ${hintsMax} allowed`;
  throw new ToolError("QUOTA_EXCEEDED", `Cannot grant access: ${present}`);
}

/** The oldest grants first. */
export const byAge = (a: GrantHint, b: GrantHint): number => a.grantedMs - b.grantedMs || (a.store < b.store ? -1 : 1);

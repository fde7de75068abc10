/** The stores that a user reaches, and the grants of the user's own: what `runtime.stores` does without a plugin. */
import { sharingLimits } from "../../shared/limits.ts";
import { accessLevels } from "../../shared/shared-scope.ts";
import type { AccessLevel, AccessSource } from "../../shared/shared-scope.ts";
import { presentValue, quoted } from "../../shared/text.ts";
import { isLive } from "../sharing/can-access.ts";
import { changedGrants } from "../sharing/changed-grants.ts";
import { readGrants } from "../sharing/grants-file.ts";
import { StoresInQuestion } from "../sharing/stores-in-question.ts";
import { Vouching } from "../sharing/vouching.ts";
import type { ContextualAccess } from "../sharing/vouching.ts";
import { grantsPath, grantsScope } from "../store/shared-stores.ts";
import type { HeldStores } from "../store/shared-stores.ts";
import type { StoreGrant } from "../values/store-grant.ts";
import { isStoreId, ownStoreOf } from "../values/store-id.ts";
import type { StoreId } from "../values/store-id.ts";
import { ToolError } from "../values/tool-error.ts";
import { checkUserId } from "../values/user-id.ts";
import type { Operation } from "./operation.ts";

/** A store that a user reaches. */
export interface ReachableStore {
  readonly id: string;
  readonly level: AccessLevel;
  /** Why: it is the user's own, was granted, or the program vouches for the user. */
  readonly source: AccessSource;
}

/** A grant of the user's own store. */
export interface GrantedAccess {
  /** The id of the grantee's own store. */
  readonly grantee: string;
  readonly level: AccessLevel;
  readonly grantedAt: Date;
  /** `null`: never. */
  readonly expiresAt: Date | null;
}

export interface NewGrant {
  /** Default: `read`. */
  readonly level?: AccessLevel | undefined;
  /** Default: never. */
  readonly expiresAt?: Date | undefined;
}

export async function listStores(
  operation: Operation,
  contextualAccess: ContextualAccess | null,
): Promise<ReachableStore[]> {
  const { userId, stores, shared } = operation;
  const vouching = new Vouching(userId, stores, contextualAccess);
  const deciding = { principal: ownStoreOf(userId), vouching, shared, clock: () => operation.now() };
  const questions = new StoresInQuestion(deciding);
  await questions.add({ stores: [], isAll: true });
  const decided = await operation.holdStores(questions.held, { writes: false }, (held) => questions.decide(held));
  return decided.stores.flatMap(({ id, level, source }) => (level && source ? [{ id, level, source }] : []));
}

export async function listGrants(operation: Operation): Promise<GrantedAccess[]> {
  const own = ownStoreOf(operation.userId);
  const grants = await operation.holdStores([own], { writes: false }, (held) => grantsIn(held, own));
  return grants
    .filter((each) => isLive(each, operation.now()))
    .map(({ grantee, level, grantedMs, expiresMs }) => ({
      grantee,
      level,
      grantedAt: new Date(grantedMs),
      expiresAt: expiresMs === null ? null : new Date(expiresMs),
    }));
}

/** Grants access to the user's own store, or replaces the grantee's grant. */
export async function grantAccess(operation: Operation, to: string, grant: NewGrant): Promise<void> {
  const { level = "read", expiresAt } = grant;
  const nowMs = operation.now();
  if (!accessLevels.includes(level)) throw unfit("level", presentValue(level), accessLevels.join(", "));
  const expiresMs = expiresAt === undefined ? null : timeOf(expiresAt);
  if (expiresMs !== null && !(expiresMs > nowMs))
    throw unfit("expiresAt", shownTime(expiresAt), "a date in the future");
  await changeGrants(operation, to, (others, grantee) => {
    if (others.length < sharingLimits.grantsMax) return [...others, { grantee, level, grantedMs: nowMs, expiresMs }];
    const present = `the store has ${others.length} grants, at most ${sharingLimits.grantsMax} allowed`;
    throw new ToolError("QUOTA_EXCEEDED", `Cannot grant access: ${present}`);
  });
}

/** Returns whether there was a grant. */
export async function revokeAccess(operation: Operation, from: string): Promise<boolean> {
  return await changeGrants(operation, from, (others) => others);
}

/** Returns whether the grantee had a grant before. */
async function changeGrants(
  operation: Operation,
  named: string,
  change: (others: readonly StoreGrant[], grantee: StoreId) => readonly StoreGrant[],
): Promise<boolean> {
  const own = ownStoreOf(operation.userId);
  const grantee = granteeOf(named, own);
  return await operation.holdStores([own], { writes: true }, async (held) => {
    const before = (await grantsIn(held, own)).filter((each) => isLive(each, operation.now()));
    const others = before.filter((each) => each.grantee !== grantee);
    const after = change(others, grantee);
    const hadOne = others.length < before.length;
    if (!hadOne && after.length === others.length) return false;
    await operation.commitGrants(held, changedGrants(own, before, after));
    return hadOne;
  });
}

/** The grantee's own store: by its id, or by a user id. */
function granteeOf(named: string, own: StoreId): StoreId {
  const grantee = isStoreId(named) ? named : ownStoreOf(checkUserId(named, "grant access"));
  if (grantee !== own) return grantee;
  throw unfit("grantee", quoted(named), "another user");
}

async function grantsIn(held: HeldStores, id: StoreId): Promise<readonly StoreGrant[]> {
  return readGrants(await held.reader(id).bytesOf(grantsScope, grantsPath));
}

/** Callers without types can pass anything. */
const timeOf = (date: unknown): number => (date instanceof Date ? date.getTime() : Number.NaN);

const shownTime = (date: unknown): string => (date instanceof Date ? String(date) : presentValue(date));

const unfit = (field: string, value: string, allowed: string): ToolError =>
  new ToolError("INPUT_INVALID", `Cannot grant access: ${field} is ${value}, allowed: ${allowed}`, {
    issues: [{ field, value, allowed }],
  });

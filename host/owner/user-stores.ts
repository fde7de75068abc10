/** The stores that a user reaches, and the grants of the user's own: what `runtime.stores` does without a plugin. */
import { sharingLimits } from "../../shared/limits.ts";
import { accessLevels, ownStoreName } from "../../shared/shared-scope.ts";
import { presentValue } from "../../shared/text.ts";
import { unknownRole } from "../plugins/tools.ts";
import { changedGrants, grantsIn } from "../sharing/grants.ts";
import { StoresInQuestion } from "../sharing/stores-in-question.ts";
import { isLive } from "../store/grant-hints.ts";
import { isStoreId, ownStoreOf, storeIdOf, storeNamesAllowed, storeOfName } from "../values/ids.ts";
import type { StoreId } from "../values/ids.ts";
import type { DecidedStores, StoreGrant } from "../values/store-grant.ts";
import { ToolError } from "../values/tool-error.ts";
import { defineOperation } from "./define-operation.ts";
import { oneOf, optional, text, time } from "./field.ts";
import type { Operation } from "./operation.ts";
import type { GrantedAccess, NewGrant, ReachableStore } from "./store-access.ts";
import { shownTime } from "./told.ts";
import type { Told } from "./told.ts";

const someone = "another user: a user id that is no UUID, or the id of the user's own store";
const isSomeone = (typed: string): boolean => storeOfName(typed) !== null;
const granteeField = text("WHO", someone, storeNamesAllowed, isSomeone);
const storeField = text("STORE", "the id of the other's store", "the id of a store, a UUID in lower case", isStoreId);

export const listStores = defineOperation({
  name: "listStores",
  action: "list the stores",
  changes: false,
  fields: {},
  run: reachableStores,
  command: {
    name: "stores list",
    summary: "lists the shared stores that a user reaches",
    description: "Lists the stores that a user reaches, the user's own first, and why.",
    examples: ["memcell stores list --user planner"],
    makesUser: true,
    tells: (stores: readonly ReachableStore[]) => [
      { heads: ["store", "level", "why"], rows: stores.map(({ id, level, source }) => [id, level, source]) },
    ],
  },
});

export const listGrants = defineOperation({
  name: "listGrants",
  action: "list the grants",
  changes: false,
  fields: {},
  run: liveGrants,
  command: {
    name: "stores show",
    summary: "shows who reaches the user's own store",
    description: "Shows the id of the user's own store, and to whom the user has granted access to it.",
    examples: ["memcell stores show"],
    makesUser: true,
    tells: (grants: readonly GrantedAccess[], { userId }) => [`Store ${storeIdOf(userId)}`, ...tableOf(grants)],
  },
});

const tableOf = (grants: readonly GrantedAccess[]): Told => {
  if (grants.length === 0) return ["No grants"];
  const rows = grants.map((each) => {
    const { grantedAt, expiresAt } = each;
    return [each.grantee, each.level, shownTime(grantedAt), expiresAt === null ? "never" : shownTime(expiresAt)];
  });
  return [{ heads: ["grantee", "level", "granted", "expires"], rows }];
};

export const grant = defineOperation({
  name: "grant",
  action: "grant access",
  changes: true,
  fields: {
    grantee: granteeField,
    level: optional(oneOf(accessLevels, "LEVEL", `${accessLevels.join(", ")} (default: read)`)),
    expiresAt: optional({ ...time("AGE", "when it ends, such as 30d (default: never)", "ahead"), flag: "expires-in" }),
  },
  run: (operation, { grantee: to, ...options }) => grantAccess(operation, to, options),
  command: {
    name: "stores grant",
    summary: "lets another user reach the user's own store",
    description: `Lets another user reach the user's own store, or replaces the other's grant. There are three levels: "search" finds entries and
gets their values, "read" also lists and reads them, "readwrite" also creates entries.`,
    operands: ["grantee"],
    examples: ["memcell stores grant planner --level search --expires-in 30d"],
    makesUser: true,
    tells: (_, { input }) => [`Granted to the user with the store ${storeOfName(input.grantee)}`],
  },
});

export const revoke = defineOperation({
  name: "revoke",
  action: "revoke access",
  changes: true,
  fields: { grantee: granteeField },
  run: (operation, { grantee: from }) => changeGrants(operation, from, (others) => others),
  command: {
    name: "stores revoke",
    summary: "ends another user's access",
    description: "Ends another user's access to the user's own store, at once.",
    operands: ["grantee"],
    examples: ["memcell stores revoke planner"],
    makesUser: true,
    tells: (hadOne: boolean) => [hadOne ? "Revoked" : "There was no grant"],
  },
});

export const clear = defineOperation({
  name: "clearStore",
  action: "clear a store",
  changes: true,
  fields: { creator: granteeField },
  run: clearEntries,
  command: {
    name: "stores clear",
    summary: "moves what another user has created in the user's store to the trash",
    description: "Moves what another user has created in the user's own store to the trash. Revoke the grant first.",
    operands: ["creator"],
    examples: ["memcell stores clear planner"],
    makesUser: true,
    tells: (trashed: number) => [`Moved ${trashed} ${trashed === 1 ? "entry" : "entries"} to the trash`],
  },
});

async function clearEntries(operation: Operation, { creator }: { readonly creator: string }): Promise<number> {
  const { tools, action } = operation;
  const [found] = tools.withRole("clear");
  if (found === undefined) throw unknownRole(action, "clear", { hint: tools.notLoaded.hintForScope(ownStoreName) });
  const { trashed } = await operation.ask("clear", found, { creator: storeOfName(creator) ?? creator });
  return trashed;
}

export const leave = defineOperation({
  name: "leaveStore",
  action: "leave a store",
  changes: true,
  fields: { store: storeField },
  run: (operation, input) => leaveStore(operation, input.store, true),
  command: {
    name: "stores leave",
    summary: "leaves a granted store out of lists, searches and prompts",
    description: `Leaves a store that somebody has granted the user out of lists, searches and prompts, also when the grant is replaced. "stores
rejoin" takes that back.`,
    operands: ["store"],
    examples: ["memcell stores leave 7b0a3c52-6d0e-4f4e-9c61-3f5b1c9a2d10"],
    makesUser: true,
    tells: (changed: boolean) => [changed ? "Left" : "There was no grant, or the store is left already"],
  },
});

export const rejoin = defineOperation({
  name: "rejoinStore",
  action: "rejoin a store",
  changes: true,
  fields: { store: storeField },
  run: (operation, input) => leaveStore(operation, input.store, false),
  command: {
    name: "stores rejoin",
    summary: "takes back that a store was left",
    description: "Takes back that a store was left out of lists, searches and prompts.",
    operands: ["store"],
    examples: ["memcell stores rejoin 7b0a3c52-6d0e-4f4e-9c61-3f5b1c9a2d10"],
    makesUser: true,
    tells: (changed: boolean) => [changed ? "Rejoined" : "The store was not left"],
  },
});

async function reachableStores(operation: Operation): Promise<ReachableStore[]> {
  const { userId, stores, store, action, contextualAccess } = operation;
  const decided = await operation.inTurn(async (turn) => {
    const { until, signal } = turn;
    const parts = { store, contextualAccess, clock: () => operation.now() };
    const questions = new StoresInQuestion({ userId, stores, action, turn }, parts);
    await questions.add({ stores: [], isAll: true });
    const decide = (): Promise<DecidedStores> =>
      store.hold(questions.homes, "read", { as: questions.as, until, signal }, (held) => questions.decide(held));
    for (;;) {
      const now = await decide();
      if (!questions.isLacking) return now;
      await questions.askLacking();
    }
  });
  return decided.stores.flatMap(({ id, level, source }) => (level && source ? [{ id, level, source }] : []));
}

async function liveGrants(operation: Operation): Promise<GrantedAccess[]> {
  const grants = await operation.hold("read", [ownStoreName], grantsIn);
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
async function grantAccess(operation: Operation, to: string, { level = "read", expiresAt }: NewGrant): Promise<void> {
  const nowMs = operation.now();
  const expiresMs = expiresAt?.getTime() ?? null;
  if (expiresMs !== null && expiresMs <= nowMs) throw unfit(operation, "expiresAt", expiresAt, "a time in the future");
  await changeGrants(operation, to, (others, grantee) => {
    if (others.length < sharingLimits.grantsMax) return [...others, { grantee, level, grantedMs: nowMs, expiresMs }];
    const present = `the store has ${others.length} grants, at most ${sharingLimits.grantsMax} allowed`;
    throw new ToolError("QUOTA_EXCEEDED", `Cannot grant access: ${present}`);
  });
}

/**
 * Leaves a store out of what is listed and searched, or no more, though the user still has the grant. Returns whether that
 * changed anything.
 */
async function leaveStore(operation: Operation, store: string, isLeft: boolean): Promise<boolean> {
  const hints = await operation.store.hintsOf(ownStoreOf(operation.userId));
  if (isLeft && hints.every((hint) => hint.store !== store)) return false;
  return await operation.hold("write", [ownStoreName], async ({ records }) => {
    const wasLeft = (await records.names("left")).includes(store);
    if (wasLeft === isLeft) return false;
    await (isLeft ? records.write("left", store, "") : records.remove("left", store));
    await records.commit();
    return true;
  });
}

/** Returns whether the grantee had a grant before. */
async function changeGrants(
  operation: Operation,
  named: string,
  change: (others: readonly StoreGrant[], grantee: StoreId) => readonly StoreGrant[],
): Promise<boolean> {
  const own = ownStoreOf(operation.userId);
  const grantee = granteeOf(operation, named, own);
  return await operation.hold("write", [ownStoreName], async (held) => {
    const before = await grantsIn(held);
    const nowMs = operation.now();
    const live = before.filter((each) => isLive(each, nowMs));
    const others = live.filter((each) => each.grantee !== grantee);
    const after = change(others, grantee);
    const hadOne = others.length < live.length;
    if (!hadOne && after.length === others.length) return false;
    await operation.commitGrants(held, changedGrants(own, before, after, nowMs));
    return hadOne;
  });
}

/** The grantee's own store: by its id, or by a user id. */
function granteeOf(operation: Operation, named: string, own: StoreId): StoreId {
  const grantee = storeOfName(named);
  if (grantee !== null && grantee !== own) return grantee;
  throw unfit(operation, "grantee", named, "another user");
}

function unfit({ action }: Operation, field: string, value: unknown, allowed: string): ToolError {
  const issue = { field, value: presentValue(value), allowed };
  const message = `Cannot ${action}: ${field} is ${issue.value}; expected ${allowed}`;
  return new ToolError("INPUT_INVALID", message, { issues: [issue] });
}

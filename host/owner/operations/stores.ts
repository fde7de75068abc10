import { accessLevels, ownStoreName } from "../../../shared/shared-scope.ts";
import { unknownRole } from "../../plugins/tools.ts";
import { isStoreId, storeIdOf, storeNamesAllowed, storeOfName } from "../../values/ids.ts";
import { defineOperation } from "../define-operation.ts";
import { oneOf, optional, text, time } from "../field.ts";
import type { Operation } from "../operation.ts";
import type { GrantedAccess, ReachableStore } from "../store-access.ts";
import { shownTime } from "../told.ts";
import type { Told } from "../told.ts";
import {
  grantAccess,
  leaveStore,
  listGrants as grantsOf,
  listStores as storesOf,
  revokeAccess,
} from "../user-stores.ts";

const someone = "another user: a user id that is no UUID, or the id of the user's own store";
const isSomeone = (typed: string): boolean => storeOfName(typed) !== null;
const grantee = text("WHO", someone, storeNamesAllowed, isSomeone);
const store = text("STORE", "the id of the other's store", "the id of a store, a UUID in lower case", isStoreId);

export const listStores = defineOperation({
  name: "listStores",
  action: "list the stores",
  changes: false,
  fields: {},
  run: (operation) => storesOf(operation),
  commands: [
    {
      name: "stores list",
      summary: "lists the shared stores that a user reaches",
      description: "Lists the stores that a user reaches, the user's own first, and why.",
      examples: ["memcell stores list --user planner"],
      makesUser: true,
      tells: (stores: readonly ReachableStore[]) => [
        { heads: ["store", "level", "why"], rows: stores.map(({ id, level, source }) => [id, level, source]) },
      ],
    },
  ],
});

export const listGrants = defineOperation({
  name: "listGrants",
  action: "list the grants",
  changes: false,
  fields: {},
  run: grantsOf,
  commands: [
    {
      name: "stores show",
      summary: "shows who reaches the user's own store",
      description: "Shows the id of the user's own store, and to whom the user has granted access to it.",
      examples: ["memcell stores show"],
      makesUser: true,
      tells: (grants: readonly GrantedAccess[], { userId }) => [`Store ${storeIdOf(userId)}`, ...grantsIn(grants)],
    },
  ],
});

const grantsIn = (grants: readonly GrantedAccess[]): Told => {
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
    grantee,
    level: optional(oneOf(accessLevels, "LEVEL", `${accessLevels.join(", ")} (default: read)`)),
    expiresAt: optional({ ...time("AGE", "when it ends, such as 30d (default: never)", "ahead"), flag: "expires-in" }),
  },
  run: (operation, { grantee: to, ...options }) => grantAccess(operation, to, options),
  commands: [
    {
      name: "stores grant",
      summary: "lets another user reach the user's own store",
      description: `Lets another user reach the user's own store, or replaces the other's grant. There are three levels: "search" finds entries and
gets their values, "read" also lists and reads them, "readwrite" also creates entries.`,
      operands: ["grantee"],
      examples: ["memcell stores grant planner --level search --expires-in 30d"],
      makesUser: true,
      tells: (_, { input }) => [`Granted to the user with the store ${storeOfName(input.grantee)}`],
    },
  ],
});

export const revoke = defineOperation({
  name: "revoke",
  action: "revoke access",
  changes: true,
  fields: { grantee },
  run: (operation, { grantee: from }) => revokeAccess(operation, from),
  commands: [
    {
      name: "stores revoke",
      summary: "ends another user's access",
      description: "Ends another user's access to the user's own store, at once.",
      operands: ["grantee"],
      examples: ["memcell stores revoke planner"],
      makesUser: true,
      tells: (hadOne: boolean) => [hadOne ? "Revoked" : "There was no grant"],
    },
  ],
});

export const clear = defineOperation({
  name: "clearStore",
  action: "clear a store",
  changes: true,
  fields: { creator: grantee },
  run: clearEntries,
  commands: [
    {
      name: "stores clear",
      summary: "moves what another user has created in the user's store to the trash",
      description: "Moves what another user has created in the user's own store to the trash. Revoke the grant first.",
      operands: ["creator"],
      examples: ["memcell stores clear planner"],
      makesUser: true,
      tells: (trashed: number) => [`Moved ${trashed} ${trashed === 1 ? "entry" : "entries"} to the trash`],
    },
  ],
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
  fields: { store },
  run: (operation, input) => leaveStore(operation, input.store, true),
  commands: [
    {
      name: "stores leave",
      summary: "leaves a granted store out of lists, searches and prompts",
      description: `Leaves a store that somebody has granted the user out of lists, searches and prompts, also when the grant is replaced. "stores
rejoin" takes that back.`,
      operands: ["store"],
      examples: ["memcell stores leave 7b0a3c52-6d0e-4f4e-9c61-3f5b1c9a2d10"],
      makesUser: true,
      tells: (changed: boolean) => [changed ? "Left" : "There was no grant, or the store is left already"],
    },
  ],
});

export const rejoin = defineOperation({
  name: "rejoinStore",
  action: "rejoin a store",
  changes: true,
  fields: { store },
  run: (operation, input) => leaveStore(operation, input.store, false),
  commands: [
    {
      name: "stores rejoin",
      summary: "takes back that a store was left",
      description: "Takes back that a store was left out of lists, searches and prompts.",
      operands: ["store"],
      examples: ["memcell stores rejoin 7b0a3c52-6d0e-4f4e-9c61-3f5b1c9a2d10"],
      makesUser: true,
      tells: (changed: boolean) => [changed ? "Rejoined" : "The store was not left"],
    },
  ],
});

import { accessLevels } from "../../../shared/shared-scope.ts";
import type { AccessLevel } from "../../../shared/shared-scope.ts";
import { quoted } from "../../../shared/text.ts";
import { runtimePaths } from "../../config/settings.ts";
import { UsageError } from "../../config/usage-error.ts";
import type { UserStores } from "../../runtime/user-stores.ts";
import { isStoreId, storeIdOf, storeNamesAllowed, storeOfName } from "../../values/ids.ts";
import type { StoreId } from "../../values/ids.ts";
import { visibleJson } from "../../values/visible-text.ts";
import { ageMs } from "../age.ts";
import { columns } from "../columns.ts";
import { defineCommand } from "../command.ts";
import { openRuntime } from "../open-runtime.ts";
import { withProgress } from "../progress.ts";

export const storesCommand = defineCommand({
  name: "stores",
  description: `Lists the stores that a user reaches, shows to whom a user has granted access to the user's own store,
grants access, revokes it, or moves what another user has created in the store to the trash. For the owner of the data;
models can do this only where the embedding program allows it.

A grantee is named by the id of its own store, a UUID in lower case, or by a user id that is no UUID. There are three
levels: "search" finds entries and gets their values, "read" also lists and reads them, "readwrite" also creates entries.

"leave" is for a grantee: it leaves a store that the user was granted out of lists, searches and prompts, also when the
grant is replaced. "rejoin" takes that back.`,
  operands: {
    "<list|show|grant|revoke|clear|leave|rejoin>": "what to do",
    "[GRANTEE|STORE]": "for grant, revoke and clear: the other user; for leave and rejoin: the id of the other's store",
  },
  requiredTexts: { user: ["ID", "the user whose stores they are"] },
  texts: {
    level: ["LEVEL", `for grant: ${accessLevels.join(", ")} (default: read)`],
    expiresIn: ["AGE", "for grant: when it ends; a number and s, m, h or d (default: never)"],
  },
  flags: { json: "prints JSON" },
  settings: runtimePaths,
  examples: [
    "memcell stores list --user alice",
    "memcell stores grant planner --level search --expires-in 30d --user alice",
    "memcell stores show --user alice",
    "memcell stores revoke planner --user alice",
    "memcell stores clear planner --user alice",
    "memcell stores leave 7b0a3c52-6d0e-4f4e-9c61-3f5b1c9a2d10 --user alice",
  ],
  exitCodes: ["0 done", "1 failed, with the error as JSON on standard output"],

  async run({ operands: [action, named], options, settings, terminal }) {
    const perform = performerOf(action, named, options);
    const { user: userId } = options;
    const isShowing = action === "list" || action === "show";
    await using runtime = await openRuntime({ settings, terminal }, userId, {
      besides: ["stores"],
      isReading: isShowing,
    });
    const shown = await withProgress(
      terminal,
      `stores ${action}`,
      () => perform(runtime.stores({ userId }), userId),
      options.json,
    );
    terminal.stdout.write(options.json ? `${visibleJson(shown.data)}\n` : shown.text);
    return 0;
  },
});

interface Shown {
  readonly data: unknown;
  readonly text: string;
}

type Perform = (stores: UserStores, userId: string) => Promise<Shown>;

/** Returns the action to perform. Checks the whole command line before anything is opened. */
function performerOf(
  action: string | undefined,
  named: string | undefined,
  { level, expiresIn }: { readonly level?: string; readonly expiresIn?: string },
): Perform {
  if ((action === "list" || action === "show") && named !== undefined) {
    throw new UsageError(`unexpected argument "${named}"`);
  }
  if (action !== "grant" && level !== undefined) throw new UsageError("--level is for grant");
  if (action !== "grant" && expiresIn !== undefined) throw new UsageError("--expires-in is for grant");
  switch (action) {
    case "list":
      return listStores;
    case "show":
      return showGrants;
    case "grant": {
      const grant = { level: levelIn(level), lastsMs: lastsMs(expiresIn) };
      const grantee = granteeIn(named);
      return (stores) => grantAccess(stores, grantee, grant);
    }
    case "revoke":
    case "clear": {
      const grantee = granteeIn(named);
      return (stores) => (action === "revoke" ? revokeAccess : clearEntries)(stores, grantee);
    }
    case "leave":
    case "rejoin": {
      const store = storeIn(named);
      return (stores) => leaveOrRejoin(stores, action, store);
    }
    case undefined:
    default:
      throw new UsageError(`no action "${action}", allowed: list, show, grant, revoke, clear, leave, rejoin`);
  }
}

/** Returns the id of the grantee's own store. */
function granteeIn(named: string | undefined): StoreId {
  if (named === undefined) throw new UsageError("the grantee is missing");
  const grantee = storeOfName(named);
  if (grantee !== null) return grantee;
  throw new UsageError(`the grantee is ${quoted(named)}, allowed: ${storeNamesAllowed}`);
}

function storeIn(named: string | undefined): StoreId {
  if (named === undefined) throw new UsageError("the store is missing");
  if (isStoreId(named)) return named;
  throw new UsageError(`the store is ${quoted(named)}, allowed: the id of a store, a UUID in lower case`);
}

function lastsMs(expiresIn: string | undefined): number | null {
  if (expiresIn === undefined) return null;
  const ms = ageMs("expires-in", expiresIn);
  if (ms > 0) return ms;
  throw new UsageError(`--expires-in is ${quoted(expiresIn)}, allowed: more than 0`);
}

function levelIn(text: string | undefined): AccessLevel | undefined {
  const known = accessLevels.find((level) => level === text);
  if (text === undefined || known !== undefined) return known;
  throw new UsageError(`--level is ${quoted(text)}, allowed: ${accessLevels.join(", ")}`);
}

async function listStores(stores: UserStores): Promise<Shown> {
  const data = await stores.list();
  return {
    data,
    text: columns([["store", "level", "why"], ...data.map(({ id, level, source }) => [id, level, source])]),
  };
}

async function showGrants(stores: UserStores, userId: string): Promise<Shown> {
  const grants = await stores.grants();
  const store = storeIdOf(userId);
  const rows = grants.map(({ grantee, level, grantedAt, expiresAt }) => [
    grantee,
    level,
    grantedAt.toISOString(),
    expiresAt?.toISOString() ?? "never",
  ]);
  const table = rows.length === 0 ? "No grants\n" : columns([["grantee", "level", "granted", "expires"], ...rows]);
  return { data: { store, grants }, text: `Store ${store}\n${table}` };
}

async function grantAccess(
  stores: UserStores,
  grantee: StoreId,
  grant: { readonly level: AccessLevel | undefined; readonly lastsMs: number | null },
): Promise<Shown> {
  const { level, lastsMs: ms } = grant;
  await stores.grant(grantee, { level, ...(ms !== null && { expiresAt: new Date(Date.now() + ms) }) });
  return { data: { grantee }, text: `Granted to the user with the store ${grantee}\n` };
}

async function leaveOrRejoin(stores: UserStores, action: "leave" | "rejoin", store: StoreId): Promise<Shown> {
  const changed = await stores[action](store);
  const [done, undone] = shownLeaving[action];
  return { data: { changed }, text: changed ? done : undone };
}

const shownLeaving = {
  leave: ["Left\n", "There was no grant, or the store is left already\n"],
  rejoin: ["Rejoined\n", "The store was not left\n"],
} as const;

async function revokeAccess(stores: UserStores, from: StoreId): Promise<Shown> {
  const revoked = await stores.revoke(from);
  return { data: { revoked }, text: revoked ? "Revoked\n" : "There was no grant\n" };
}

async function clearEntries(stores: UserStores, creator: string): Promise<Shown> {
  const trashed = await stores.clear(creator);
  return { data: { trashed }, text: `Moved ${trashed} ${trashed === 1 ? "entry" : "entries"} to the trash\n` };
}

import { accessLevels } from "../../shared/shared-scope.ts";
import type { AccessLevel } from "../../shared/shared-scope.ts";
import { quoted } from "../../shared/text.ts";
import { runtimePaths } from "../config/settings.ts";
import { UsageError } from "../config/usage-error.ts";
import type { UserStores } from "../runtime/user-stores.ts";
import { storeIdOf } from "../values/store-id.ts";
import { visibleJson } from "../values/visible-text.ts";
import { ageMs } from "./age.ts";
import { columns } from "./columns.ts";
import { defineCommand } from "./command.ts";
import { openRuntime } from "./open-runtime.ts";
import { withProgress } from "./progress.ts";

export const storesCommand = defineCommand({
  name: "stores",
  description: `Lists the stores that a user reaches, shows to whom a user has granted access to the user's own store,
grants access, revokes it, or moves what another user has created in the store to the trash. For the owner of the data; models can do this only where the embedding program allows it.

A grantee is named by its user id, or by the id of its own store, a UUID. There are three levels: "search" finds entries
and gets their values, "read" also lists and reads them, "readwrite" also creates entries.`,
  operands: {
    "<list|show|grant|revoke|clear>": "what to do",
    "[GRANTEE]": "for grant, revoke and clear: the other user's id, or the id of that user's own store",
  },
  texts: {
    user: ["ID", "the user whose stores they are"],
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
  ],
  exitCodes: ["0 done", "1 failed, with the error as JSON on standard output"],

  async run({ operands: [action, grantee], options, settings }) {
    const perform = performerOf(action, grantee, options);
    await using runtime = await openRuntime(settings, options.user);
    const userId = options.user as string;
    const shown = await withProgress(
      `stores ${action}`,
      () => perform(runtime.stores({ userId }), userId),
      options.json,
    );
    process.stdout.write(options.json ? `${visibleJson(shown.data)}\n` : shown.text);
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
  grantee: string | undefined,
  { level, expiresIn }: { readonly level?: string; readonly expiresIn?: string },
): Perform {
  const isNamed = action === "grant" || action === "revoke" || action === "clear";
  if (!isNamed && grantee !== undefined) throw new UsageError(`unexpected argument "${grantee}"`);
  if (action !== "grant" && level !== undefined) throw new UsageError("--level is for grant");
  if (action !== "grant" && expiresIn !== undefined) throw new UsageError("--expires-in is for grant");
  switch (action) {
    case "list":
      return listStores;
    case "show":
      return showGrants;
    case "grant": {
      const grant = { level: levelIn(level), lastsMs: expiresIn === undefined ? null : ageMs("expires-in", expiresIn) };
      return (stores) => grantAccess(stores, named(grantee), grant);
    }
    case "revoke":
      return (stores) => revokeAccess(stores, named(grantee));
    case "clear":
      return (stores) => clearEntries(stores, named(grantee));
    case undefined:
    default:
      throw new UsageError(`no action "${action}", allowed: list, show, grant, revoke, clear`);
  }
}

function named(grantee: string | undefined): string {
  if (grantee === undefined) throw new UsageError("the grantee is missing");
  return grantee;
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
  to: string,
  { level, lastsMs }: { readonly level: AccessLevel | undefined; readonly lastsMs: number | null },
): Promise<Shown> {
  await stores.grant(to, { level, ...(lastsMs !== null && { expiresAt: new Date(Date.now() + lastsMs) }) });
  return { data: {}, text: "Granted\n" };
}

async function revokeAccess(stores: UserStores, from: string): Promise<Shown> {
  const revoked = await stores.revoke(from);
  return { data: { revoked }, text: revoked ? "Revoked\n" : "There was no grant\n" };
}

async function clearEntries(stores: UserStores, creator: string): Promise<Shown> {
  const trashed = await stores.clear(creator);
  return { data: { trashed }, text: `Moved ${trashed} ${trashed === 1 ? "entry" : "entries"} to the trash\n` };
}

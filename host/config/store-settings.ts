import type { MountLocation, StoreDefinition } from "../store/definition.ts";
import { checkMounts, refuseLogIn } from "../store/files/define-files.ts";
import type { Settings } from "./read-settings.ts";
import { readMount } from "./setting.ts";
import type { SettingValues } from "./settings.ts";
import { sourceText } from "./source.ts";
import { UsageError } from "./usage-error.ts";

/** As options of `createRuntime`. */
export type PlaceOfMemory =
  | { readonly store: StoreDefinition }
  | {
      readonly dataDir: string;
      readonly mounts: readonly MountLocation[];
      readonly durability: SettingValues["durability"];
    };

/** Those of a folder: they say nothing of a database. */
const ofFiles = ["data", "mounts"] as const;

/**
 * Where users' memory is kept: the data folder with the mounts of `userId`, or a database. Throws `UsageError`; `why`
 * explains in its message why `userId` is `undefined`.
 */
export async function storeFor(settings: Settings, userId: string | undefined, why?: string): Promise<PlaceOfMemory> {
  const { values, sources } = settings;
  const { store: url, data, durability, connectionsMax } = values;
  if (url === null) return { dataDir: data, durability, mounts: mountsFor(settings, userId, why) };
  const both = ofFiles.find((path) => sources[path].kind !== "default");
  if (both === undefined) {
    // Loaded only here: most commands have no database, and would wait for its code.
    const { postgresStore } = await import("../store/postgres/define-postgres.ts");
    return { store: postgresStore({ url, durability, connectionsMax }) };
  }
  const [told, asked] = [`${both} (${sourceText(sources[both])})`, `store (${sourceText(sources.store)})`];
  throw new UsageError(`${told} and ${asked} do not go together, allowed: a folder, or a database`);
}

/** Returns the mounts of `userId`. Throws `UsageError`; `why` explains in its message why `userId` is `undefined`. */
function mountsFor(settings: Settings, userId: string | undefined, why = "no user is given"): MountLocation[] {
  const { values, sources } = settings;
  const mounts = values.mounts.flatMap((text) => readMount(text) ?? []);
  if (mounts.length === 0) return [];
  if (userId === undefined) {
    const told = `mounts (${sourceText(sources.mounts)})`;
    throw new UsageError(`${told} belong to one user, but ${why}, allowed: with --user`);
  }
  const ofUser = mounts.map(({ scope, dir }) => ({ userId, scope, dir }));
  try {
    const checked = checkMounts(ofUser, values.data);
    if (values.auditLog !== null) refuseLogIn(checked, values.auditLog);
    return checked;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : "the mounts cannot be used", { cause: error });
  }
}

/** Checks the mounts before anything is loaded or created. Refuses every folder that is not clearly safe. */
import { resolve } from "node:path";

import type { FieldsOf } from "../../../shared/known-fields.ts";
import type { ManifestTool } from "../../../shared/manifest.ts";
import { scopeName } from "../../../shared/path.ts";
import { hasNul, quoted } from "../../../shared/text.ts";
import { holds, leadsInto, realPath, wayUp, isIn } from "../../disk/leads-into.ts";
import type { Located } from "../../disk/leads-into.ts";
import { checkFields } from "../../values/known-fields.ts";
import type { Mount } from "../../values/mount.ts";
import { ToolError } from "../../values/tool-error.ts";
import { isUserId, userIdsAllowed } from "../../values/user-id.ts";
import type { UserId } from "../../values/user-id.ts";
import type { MountLocation } from "../definition.ts";
import { hostFolder, ignoreFile, storesFolder, usersFolder } from "./home.ts";

/** Each mount is a store of its own, which holds folders and files open while it is used. */
const mountsMax = 64;

/**
 * Returns the mounts with their folders resolved: links are followed once, for the runtime's whole life. Throws a
 * `TypeError` or `RangeError` for invalid mounts. No message names a folder.
 */
export function checkMounts(mounts: unknown, dataDir: string): MountLocation[] {
  if (!Array.isArray(mounts)) throw new TypeError("mounts is not an array");
  if (mounts.length > mountsMax)
    throw new RangeError(`mounts has ${mounts.length} items, at most ${mountsMax} allowed`);
  const checked = mounts.map((mount: unknown, at) => checkMount(mount, `mounts[${at}]`));
  // Once per mount: once per pair would ask the disk some ten thousand times.
  const located = checked.map((mount) => ({ ...mount, way: wayUp(mount.dir) }));
  for (const [at, mount] of located.entries()) {
    refuseSurroundings(mount, `mounts[${at}]`, dataDir);
    for (const [earlier, other] of located.slice(0, at).entries()) {
      refusePair([mount, other], `mounts[${at}]`, `mounts[${earlier}]`);
    }
  }
  return checked;
}

interface LocatedMount extends MountLocation {
  /** The mount's folder and all folders above it. */
  readonly way: readonly [Located, ...Located[]];
}

const mountFields: FieldsOf<Mount> = { userId: true, scope: true, dir: true };

function checkMount(mount: unknown, label: string): MountLocation {
  if (typeof mount !== "object" || mount === null) throw new TypeError(`${label} is not an object`);
  checkFields<object>(label, mount, mountFields);
  const { userId, scope, dir } = mount as Readonly<Record<string, unknown>>;
  if (typeof userId !== "string" || !isUserId(userId)) {
    throw new RangeError(`${label}.userId is ${shown(userId)}, allowed: ${userIdsAllowed}`);
  }
  if (typeof scope !== "string" || !scopeName.test(scope)) {
    const allowed = "a scope's name: a lower-case letter, then at most 31 of a-z, 0-9 and -";
    throw new RangeError(`${label}.scope is ${shown(scope)}, allowed: ${allowed}`);
  }
  if (typeof dir !== "string" || dir === "" || hasNul(dir)) throw new TypeError(`${label}.dir is no name of a folder`);
  return { userId: userId as UserId, scope, dir: realPath(resolve(dir)) };
}

function refuseSurroundings({ dir, way }: LocatedMount, label: string, dataDir: string): void {
  if (leadsInto(dir, dataDir)) throw new RangeError(`${label}.dir lies in the data folder, allowed: a folder outside`);
  if (leadsInto(dataDir, dir)) throw new RangeError(`${label}.dir holds the data folder, allowed: a folder beside it`);
  if (hasOtherLock(way)) {
    const allowed = "a folder outside, or exactly the folder that is mounted there";
    throw new RangeError(`${label}.dir is or lies in a folder that a host keeps under its lock, allowed: ${allowed}`);
  }
}

function refusePair([mount, other]: readonly [LocatedMount, LocatedMount], label: string, earlier: string): void {
  if (mount.userId === other.userId && mount.scope === other.scope) {
    throw new RangeError(`${label} has user and scope of ${earlier}, allowed: one folder for each scope of a user`);
  }
  if (holds(mount.way, other.way[0]) || holds(other.way, mount.way[0])) {
    throw new RangeError(`${label}.dir is, holds or lies in the folder of ${earlier}, allowed: folders apart`);
  }
}

/** Throws a `RangeError` for an audit log in a mounted folder: a tool could write there. */
export function refuseLogIn(mounts: readonly MountLocation[], logFile: string): void {
  const at = mounts.findIndex(({ dir }) => leadsInto(logFile, dir));
  if (at !== -1) throw new RangeError(`mounts[${at}].dir holds the audit log, allowed: a folder without it`);
}

const shown = (value: unknown): string => (typeof value === "string" ? quoted(value) : `of type ${typeof value}`);

/**
 * Throws `PLUGIN_REFUSED` for a tool that has a mounted scope and another one: a change set is atomic in one place
 * only. Also throws it for a mounted scope that no tool has. Such a scope is misspelt, and its tools would use the data
 * folder.
 */
export function refuseUnfitTools(
  tools: readonly Pick<ManifestTool, "name" | "scopes">[],
  mounts: readonly MountLocation[],
  hintFor: (scope: string) => string | undefined,
): void {
  const mounted = new Set(mounts.map(({ scope }) => scope));
  const present = new Set<string>();
  for (const { name, scopes } of tools) {
    for (const scope of scopes) present.add(scope);
    const scope = scopes.length > 1 ? scopes.find((each) => mounted.has(each)) : undefined;
    if (scope === undefined) continue;
    const reason = `the tool ${quoted(name)} has ${scopes.length} scopes, a tool with a mounted scope may have that one alone`;
    throw new ToolError("PLUGIN_REFUSED", `Cannot mount ${quoted(scope)}: ${reason}`);
  }
  const missing = [...mounted].find((scope) => !present.has(scope));
  if (missing === undefined) return;
  const allowed = [...present]
    .filter((scope) => scopeName.test(scope))
    .toSorted()
    .join(", ");
  throw new ToolError(
    "PLUGIN_REFUSED",
    `Cannot mount ${quoted(missing)}: no loaded tool has this scope, allowed: ${allowed}`,
    { hint: hintFor(missing) },
  );
}

/**
 * Whether a folder already has a lock: it is a user's folder or a shared store, or is inside one or inside a mounted
 * folder. With a second lock, two hosts could write to its files at once. Takes the folder and all folders above it.
 */
function hasOtherLock([folder, ...above]: readonly Located[]): boolean {
  if (above.some((each) => isIn(each, hostFolder))) return true;
  if (folder === undefined || ![usersFolder, storesFolder].includes(above[0]?.name ?? "")) return false;
  // A mounted folder can also be inside a folder with such a name. Only a mounted folder has the ignore file.
  return isIn(folder, hostFolder) && !isIn(folder, hostFolder, ignoreFile);
}

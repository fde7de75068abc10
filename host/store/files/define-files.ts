import { join, resolve } from "node:path";

import type { FieldsOf } from "../../../shared/known-fields.ts";
import type { ManifestTool } from "../../../shared/manifest.ts";
import { scopeName } from "../../../shared/path.ts";
import { hasNul, quoted } from "../../../shared/text.ts";
import { holds, isIn, leadsInto, realPath, wayUp } from "../../disk/leads-into.ts";
import type { Located } from "../../disk/leads-into.ts";
import { nativeCalls } from "../../disk/native-calls.ts";
import { DiskRoot } from "../../disk/pinned-directory.ts";
import { checkUserId, isUserId, userIdsAllowed } from "../../values/ids.ts";
import { checkFields } from "../../values/known-fields.ts";
import type { Mount } from "../../values/mount.ts";
import { ToolError } from "../../values/tool-error.ts";
import type { FilesLocation, MountLocation, StoreDefinition } from "../definition.ts";
import type { Engine } from "../engine.ts";
import { FilesEngine } from "./files-engine.ts";
import type { FilesSetup } from "./files-engine.ts";
import { fileMount, hostFolder, ignoreFile, storesFolder, usersFolder } from "./home.ts";

export interface FileStoreOptions {
  /** The folder that holds `users/` and `stores/`. Made on the first write. */
  readonly dir: string;
  /** Folders that each stand for one scope of one user, such as a workspace's own notes. Default: none; at most 64. */
  readonly mounts?: readonly Mount[] | undefined;
  /**
   * `full`, the default: when a call's promise resolves, its changes are on the disk and survive a power cut.
   * `relaxed`: they survive the death of the process, but if the machine stops, the last seconds of changes can be
   * lost, and a change set can be there in part. Faster where a flush is slow.
   */
  readonly durability?: "full" | "relaxed" | undefined;
}

/**
 * Keeps users' memory as Markdown files in a folder, for `createRuntime`. `createRuntime({ dataDir })` is the short
 * form.
 *
 * Each user has a folder of their own, which no other user's call reaches. Runtimes that use the same folder, in this
 * process or another, exclude each other while they serve a user; on a read-only disk they can read together. Edits
 * that a person makes meanwhile are kept.
 *
 * A relative `dir` is resolved at once. Throws a `TypeError` or `RangeError` for invalid options, as `Mount` says.
 * Nothing is opened or created until a runtime opens the store.
 *
 * @example
 * const runtime = await createRuntime({ store: fileStore({ dir: "data", durability: "relaxed" }) });
 */
export function fileStore(options: FileStoreOptions): StoreDefinition {
  checkFields("fileStore", options, { dir: true, mounts: true, durability: true });
  const { dir, mounts, durability = "full" } = options;
  if (typeof dir !== "string" || dir === "") throw new TypeError("fileStore needs a dir");
  if (durability !== "full" && durability !== "relaxed") {
    throw new RangeError(`durability is ${String(durability)}, allowed: "full", "relaxed"`);
  }
  const dataDir = resolve(dir);
  const location = { kind: "files", dir: dataDir, mounts: checkMounts(mounts ?? [], dataDir) } as const;
  return {
    location,
    answerReads: null,
    open: (note, settings) => openFiles(location, { durability, note, ...(settings && { settings }) }),
    checkTools: (tools, hintFor) => refuseUnfitTools(tools, location.mounts, hintFor),
    checkLogFile: (file) => refuseLogIn(location.mounts, file),
    // A log file in the place of one of these folders would lock everybody out.
    holdsFile: (file) => [usersFolder, storesFolder].some((name) => leadsInto(file, join(dataDir, name))),
  };
}

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
  return { userId: checkUserId(userId), scope, dir: realPath(resolve(dir)) };
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
function refuseUnfitTools(
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

/** Throws `STORAGE_FAILED` on a system whose files cannot be locked. */
function openFiles({ dir, mounts }: FilesLocation, setup: Omit<FilesSetup, "mounts">): Engine {
  nativeCalls();
  return new FilesEngine(new DiskRoot(dir), { ...setup, mounts: mounts.map(fileMount) });
}

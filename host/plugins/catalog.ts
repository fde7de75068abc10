/** The plugins that a runtime has loaded, and their tools. Files are checked here before any of their code runs. */
import { createHash } from "node:crypto";
import { basename } from "node:path";

import { guestLimits } from "../../shared/limits.ts";
import type { Manifest, ManifestTool } from "../../shared/manifest.ts";
import { describeMismatch } from "../../shared/plugin-shape.ts";
import { quoted } from "../../shared/text.ts";
import { readSections } from "../../shared/wasm-sections.ts";
import { readBoundedFile } from "../disk/bounded-file.ts";
import { compileGuest, isValidGuest } from "../guest/guest-module.ts";
import type { GuestBounds, GuestModule } from "../guest/guest-module.ts";
import { ToolError } from "../values/tool-error.ts";
import { readPlugin } from "./artifact/read-plugin.ts";
import { bundledName } from "./bundled-plugins.ts";
import type { PluginFiles } from "./bundled-plugins.ts";
import { clashClauses, replaces } from "./clash-clauses.ts";
import type { Plugin } from "./clash-clauses.ts";
import { narrowPlugin, narrowingText, pinDeviations, policyDeviations } from "./narrow-plugin.ts";
import type { Narrowing } from "./narrow-plugin.ts";
import { NotLoaded } from "./not-loaded.ts";
import { trustDefaults } from "./policy/policy.ts";
import type { Policy } from "./policy/policy.ts";
import { LoadedTools, familyFiles } from "./tools.ts";

/** A plugin that has passed the host's own checks, while the engine still compiles it. */
export interface JudgedPlugin {
  readonly manifest: Manifest;
  /** The SHA-256 of the whole file, in hex. */
  readonly sha256: string;
  /** Rejects with `PLUGIN_REFUSED` if the engine refuses the module or reads it differently from the host. */
  readonly guest: Promise<GuestModule>;
}

export interface JudgedCatalog {
  /** Those of which the policy leaves a tool. Nothing of the others is kept. */
  readonly plugins: readonly JudgedPlugin[];
  /** The tools that the policy leaves, as far as it grants them. Nothing else decides what can be called. */
  readonly tools: LoadedTools;
  /** What the policy takes away. */
  readonly narrowings: readonly Narrowing[];
}

/** A plugin file that may be loaded, with what the policy leaves of it. */
interface JudgedFile {
  readonly manifest: Manifest;
  readonly tools: readonly ManifestTool[];
  readonly narrowings: readonly Narrowing[];
  /** `null` if no tool is left. */
  readonly plugin: JudgedPlugin | null;
}

/** Called with the refusal of a plugin that is left out. */
export type OnLeftOut = (refusal: ToolError) => void;

/**
 * Reads and checks plugin files, and takes away what the policy does not grant. Throws `PLUGIN_REFUSED` for the first
 * file that is invalid or that the policy refuses. With `onLeftOut`, a file beside the named ones is left out instead,
 * and silently if the policy does not name its plugin: its operator has decided that. Does not wait for the engine:
 * nothing may run until every `guest` has resolved.
 */
export async function judgeCatalog(files: PluginFiles, policy: Policy, onLeftOut?: OnLeftOut): Promise<JudgedCatalog> {
  const judged = (await judgeAll(files.named, policy)).map(judgedOrThrow);
  for (const [at, each] of judged.entries()) refuseClash(each, judged.slice(0, at));
  const names = new Set(judged.map(({ manifest }) => manifest.name));
  const isWanted = (name: string): boolean => !names.has(name) && (!onLeftOut || policy.plugins.has(name));
  const besides = files.besides.filter((file) => isWanted(bundledName(file)));
  const leftOut = new Set<string>();
  for (const [at, each] of (await judgeAll(besides, policy)).entries()) {
    if (each.status === "rejected" && onLeftOut && each.reason instanceof ToolError) {
      onLeftOut(each.reason);
      leftOut.add(bundledName(besides[at] ?? ""));
    } else addUnlessReplaced(judgedOrThrow(each), judged);
  }
  const others = files.bundled.filter((name) => !leftOut.has(name));
  return catalogOf(judged, others, policy);
}

function catalogOf(judged: readonly JudgedFile[], bundled: readonly string[], policy: Policy): JudgedCatalog {
  const left = judged.flatMap(({ plugin, tools }) => (plugin === null ? [] : [{ plugin, tools }]));
  const all = left.flatMap(({ plugin: { manifest }, tools: ofPlugin }, moduleIndex) => {
    const { name: family } = manifest;
    const files = familyFiles(manifest);
    const trust = policy.plugins.get(family)?.trust ?? trustDefaults;
    return ofPlugin.map((tool) => ({ tool, family, moduleIndex, trust, files }));
  });
  const narrowings = judged.flatMap((each) => each.narrowings);
  const unavailable = narrowings.flatMap((narrowing) =>
    narrowing.unavailable.map((name) => ({ family: narrowing.family, name, reason: narrowingText(narrowing) })),
  );
  const loaded = new Set(judged.map(({ manifest }) => manifest.name));
  const notLoaded = new NotLoaded(
    bundled.filter((name) => !loaded.has(name)),
    policy,
  );
  return {
    plugins: left.map(({ plugin }) => plugin),
    tools: new LoadedTools(all, { unavailable, notLoaded }),
    narrowings,
  };
}

/** In the order of `files`, not of reading, so that the same files always give the same error. */
function judgeAll(files: readonly string[], policy: Policy): Promise<PromiseSettledResult<JudgedFile>[]> {
  return Promise.allSettled(files.map((file) => judgePlugin(file, policy)));
}

function judgedOrThrow(judged: PromiseSettledResult<JudgedFile>): JudgedFile {
  if (judged.status === "rejected") throw judged.reason;
  return judged.value;
}

function addUnlessReplaced(file: JudgedFile, files: JudgedFile[]): void {
  if (!files.some((other) => replaces(namedTools(other), namedTools(file)))) files.push(file);
}

/** A plugin with the tools that the policy leaves. */
const namedTools = ({ manifest: { name }, tools }: JudgedFile): Plugin => ({ name, tools });

function refuseClash(file: JudgedFile, earlier: readonly JudgedFile[]): void {
  for (const other of earlier) {
    const [clause] = clashClauses(namedTools(file), namedTools(other));
    if (clause === undefined) continue;
    throw refused(file.manifest.name, `the plugin ${quoted(other.manifest.name)}, which is loaded too, ${clause}`);
  }
}

async function judgePlugin(file: string, policy: Policy): Promise<JudgedFile> {
  const name = basename(file);
  const wasm = await readBytes(file, name);
  const sha256 = createHash("sha256").update(wasm).digest("hex");
  const known = checkedFile(sha256);
  const [unpinned] = known === null ? [] : pinDeviations(known.manifest, sha256, policy);
  if (unpinned !== undefined) throw refused(name, unpinned);
  const { manifest, guests } = known ?? checkFile({ name, wasm, sha256 }, policy);
  const [deviation] = policyDeviations(manifest, sha256, policy);
  if (deviation !== undefined) throw refused(name, deviation);
  const narrowed = narrowPlugin(manifest, policy);
  if (narrowed.tools.length === 0) {
    // No thread gets the module. A file that no engine takes is refused all the same.
    if (!isValidGuest(wasm)) throw refused(name, invalidModule);
    return { manifest, ...narrowed, plugin: null };
  }
  const { memoryPages } = policy.limits;
  const bounds = { memoryPagesMax: memoryPages, fuelPollsMax: manifest.fuelPolls };
  const guest = guests.get(memoryPages) ?? compilePlugin(wasm, bounds, { name, manifest });
  guests.set(memoryPages, guest);
  // If another plugin is refused meanwhile, nothing awaits this promise.
  guest.catch(() => guests.delete(memoryPages));
  return { manifest, ...narrowed, plugin: { manifest, sha256, guest } };
}

/** Throws `PLUGIN_REFUSED` for a file that is not what its manifest says, or not the one that the policy pins. */
function checkFile({ name, wasm, sha256 }: ReadFile, policy: Policy): CheckedFile {
  const { manifest, deviations, cause } = readPlugin(wasm, (named) => pinDeviations(named, sha256, policy));
  if (!manifest || deviations.length > 0) throw refused(name, deviations[0] ?? "it has no manifest", cause);
  return keepChecked(sha256, manifest);
}

interface ReadFile {
  readonly name: string;
  readonly wasm: Uint8Array;
  readonly sha256: string;
}

/** A file that has passed every check that no policy decides. */
interface CheckedFile {
  readonly manifest: Manifest;
  /** The compiled module by the pages that its memory may have. */
  readonly guests: Map<number, Promise<GuestModule>>;
}

/** More files than a program loads. Each can keep some megabytes of compiled code. */
const checkedFilesMax = 16;

/**
 * By hash: the next runtime of the process does not check and compile the same bytes. The only state that runtimes
 * share. It holds nothing of a user, a policy or a path: whoever has other bytes has another hash.
 */
const checkedFiles = new Map<string, CheckedFile>();

/** The manifest is a copy: programs get parts of it, and can change what they got. */
function checkedFile(sha256: string): CheckedFile | null {
  const file = checkedFiles.get(sha256);
  if (file === undefined) return null;
  keep(sha256, file);
  return { ...file, manifest: structuredClone(file.manifest) };
}

function keepChecked(sha256: string, manifest: Manifest): CheckedFile {
  const file = { manifest: structuredClone(manifest), guests: new Map<number, Promise<GuestModule>>() };
  keep(sha256, file);
  return { ...file, manifest };
}

/** The last used ones stay. */
function keep(sha256: string, file: CheckedFile): void {
  checkedFiles.delete(sha256);
  checkedFiles.set(sha256, file);
  const [oldest] = checkedFiles.keys();
  if (checkedFiles.size > checkedFilesMax && oldest !== undefined) checkedFiles.delete(oldest);
}

const invalidModule = "it is not a valid WebAssembly module";

async function compilePlugin(
  wasm: Uint8Array,
  bounds: GuestBounds,
  { name, manifest }: { readonly name: string; readonly manifest: Manifest },
): Promise<GuestModule> {
  const guest = await compileGuest(wasm, bounds).catch((error: unknown) => {
    throw refused(name, invalidModule, error);
  });
  // The engine's reading of the file is what runs. If it differs from the host's reading, the checks were on something
  // else.
  const imports = WebAssembly.Module.imports(guest.module);
  const ofHost = new Set(guest.stateExports);
  const exports = WebAssembly.Module.exports(guest.module).filter((each) => !ofHost.has(each.name));
  const mismatch = describeMismatch(manifest, { imports, exports, sections: readSections(wasm) });
  if (mismatch) throw refused(name, mismatch);
  return guest;
}

async function readBytes(file: string, name: string): Promise<Uint8Array> {
  const read = await readBoundedFile(file, guestLimits.pluginBytesMax).catch((error: unknown) => {
    throw refused(name, "it cannot be read", error);
  });
  if (read.kind === "unfit") throw refused(name, read.reason);
  return read.bytes;
}

function refused(name: string, reason: string, cause?: unknown): ToolError {
  return new ToolError("PLUGIN_REFUSED", `Cannot load plugin ${quoted(name)}: ${reason}`, { cause });
}

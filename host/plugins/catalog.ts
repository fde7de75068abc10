/** The plugins that a runtime has loaded, and their tools. Files are checked here before any of their code runs. */
import { createHash } from "node:crypto";
import { basename } from "node:path";

import { guestLimits } from "../../shared/limits.ts";
import type { Manifest } from "../../shared/manifest.ts";
import { describeMismatch } from "../../shared/plugin-shape.ts";
import { quoted } from "../../shared/text.ts";
import type { WasmSection } from "../../shared/wasm-sections.ts";
import { readBoundedFile } from "../disk/bounded-file.ts";
import { compileGuest } from "../guest/guest-module.ts";
import type { GuestBounds, GuestModule } from "../guest/guest-module.ts";
import { ToolError } from "../values/tool-error.ts";
import { readPlugin } from "./artifact/read-plugin.ts";
import { bundledName } from "./bundled-plugins.ts";
import type { PluginFiles } from "./bundled-plugins.ts";
import { clashClauses, replaces } from "./clash-clauses.ts";
import { LoadedTools } from "./loaded-tools.ts";
import { NotLoaded } from "./not-loaded.ts";
import { pinDeviations, policyDeviations } from "./policy/policy-deviations.ts";
import type { Policy } from "./policy/policy.ts";

/** A plugin that has passed the host's own checks, while the engine still compiles it. */
export interface JudgedPlugin {
  readonly manifest: Manifest;
  /** The SHA-256 of the whole file, in hex. */
  readonly sha256: string;
  /** Rejects with `PLUGIN_REFUSED` if the engine refuses the module or reads it differently from the host. */
  readonly guest: Promise<GuestModule>;
}

export interface JudgedCatalog {
  readonly plugins: readonly JudgedPlugin[];
  readonly tools: LoadedTools;
}

/** Called with the refusal of a plugin that is left out. */
export type OnLeftOut = (refusal: ToolError) => void;

/**
 * Reads and checks plugin files. Throws `PLUGIN_REFUSED` for the first file that is invalid or requests too much. With
 * `onLeftOut`, a file beside the named ones is left out instead, and silently if the policy does not name its plugin:
 * its operator has decided that. Does not wait for the engine: nothing may run until every `guest` has resolved.
 */
export async function judgeCatalog(files: PluginFiles, policy: Policy, onLeftOut?: OnLeftOut): Promise<JudgedCatalog> {
  const plugins = (await judgeAll(files.named, policy)).map(judgedOrThrow);
  for (const [at, { manifest }] of plugins.entries()) refuseClash(manifest, plugins.slice(0, at));
  const names = new Set(plugins.map(({ manifest }) => manifest.name));
  const isWanted = (name: string): boolean => !names.has(name) && (!onLeftOut || policy.plugins.has(name));
  const besides = files.besides.filter((file) => isWanted(bundledName(file)));
  for (const judged of await judgeAll(besides, policy)) {
    if (judged.status === "rejected" && onLeftOut && judged.reason instanceof ToolError) onLeftOut(judged.reason);
    else addUnlessReplaced(judgedOrThrow(judged), plugins);
  }
  const tools = plugins.flatMap(({ manifest }, moduleIndex) =>
    manifest.tools.map((tool) => ({ tool, family: manifest.name, moduleIndex })),
  );
  const loaded = new Set(plugins.map(({ manifest }) => manifest.name));
  const notLoaded = new NotLoaded(
    files.bundled.filter((name) => !loaded.has(name)),
    policy,
  );
  return { plugins, tools: new LoadedTools(tools, notLoaded) };
}

/** In the order of `files`, not of reading, so that the same files always give the same error. */
function judgeAll(files: readonly string[], policy: Policy): Promise<PromiseSettledResult<JudgedPlugin>[]> {
  return Promise.allSettled(files.map((file) => judgePlugin(file, policy)));
}

function judgedOrThrow(judged: PromiseSettledResult<JudgedPlugin>): JudgedPlugin {
  if (judged.status === "rejected") throw judged.reason;
  return judged.value;
}

function addUnlessReplaced(plugin: JudgedPlugin, plugins: JudgedPlugin[]): void {
  if (!plugins.some(({ manifest }) => replaces(manifest, plugin.manifest))) plugins.push(plugin);
}

function refuseClash(manifest: Manifest, earlier: readonly JudgedPlugin[]): void {
  for (const { manifest: other } of earlier) {
    const [clause] = clashClauses(manifest, other);
    if (clause === undefined) continue;
    throw refused(manifest.name, `the plugin ${quoted(other.name)}, which is loaded too, ${clause}`);
  }
}

async function judgePlugin(file: string, policy: Policy): Promise<JudgedPlugin> {
  const name = basename(file);
  const wasm = await readBytes(file, name);
  const sha256 = createHash("sha256").update(wasm).digest("hex");
  const { manifest, sections, deviations, cause } = readPlugin(wasm, (named) => pinDeviations(named, sha256, policy));
  if (!manifest || deviations.length > 0) throw refused(name, deviations[0] ?? "it has no manifest", cause);
  const [deviation] = policyDeviations(manifest, sha256, policy);
  if (deviation !== undefined) throw refused(name, deviation);
  const bounds = { memoryPagesMax: policy.limits.memoryPages, fuelPollsMax: manifest.fuelPolls };
  const guest = compilePlugin(wasm, bounds, { name, manifest, sections });
  // If another plugin is refused meanwhile, nothing awaits this promise.
  guest.catch(() => {});
  return { manifest, sha256, guest };
}

async function compilePlugin(
  wasm: Uint8Array,
  bounds: GuestBounds,
  { name, manifest, sections }: { name: string; manifest: Manifest; sections: readonly WasmSection[] },
): Promise<GuestModule> {
  const guest = await compileGuest(wasm, bounds).catch((error: unknown) => {
    throw refused(name, "it is not a valid WebAssembly module", error);
  });
  // The engine's reading of the file is what runs. If it differs from the host's reading, the checks were on something
  // else.
  const imports = WebAssembly.Module.imports(guest.module);
  const ofHost = new Set(guest.stateExports);
  const exports = WebAssembly.Module.exports(guest.module).filter((each) => !ofHost.has(each.name));
  const mismatch = describeMismatch(manifest, { imports, exports, sections });
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

/** From what a host's operator has written to a policy that is checked and complete. */
import { basename, dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";

import { policyLimits } from "../../../shared/limits.ts";
import { lockSchema } from "../../../shared/plugin-lock.ts";
import type { PluginLock } from "../../../shared/plugin-lock.ts";
import { quoted } from "../../../shared/text.ts";
import { readBoundedFile } from "../../disk/bounded-file.ts";
import { ToolError } from "../../values/tool-error.ts";
import { policyLimitsMax } from "./policy-limits.ts";
import { policyFileSchema } from "./policy-schema.ts";
import type { PolicyFile } from "./policy-schema.ts";
import { policySha256 } from "./policy-sha256.ts";
import type { PluginPolicy, Policy, PolicyLimits, ToolPolicy } from "./policy.ts";
import { readJson, UnusablePolicy } from "./read-json.ts";

/** A policy's file, or what one would hold; without either, the policy that comes with the package. */
export type PolicySource = string | PolicyFile | undefined;

/**
 * Throws `PLUGIN_REFUSED` for a policy that cannot be used, since no plugin can be judged by it: a file that is not there,
 * one that says what no policy may say, or whose lock file pins another file than it does itself. A plugin that its lock
 * file does not pin is refused alone, when it is loaded.
 */
export async function loadPolicy(source: PolicySource): Promise<Policy> {
  const name = nameOf(source);
  try {
    if (typeof source === "object") return await completed(name, textOf(source), ".");
    const file = source ?? fileURLToPath(import.meta.resolve("#default-policy"));
    return await completed(name, await readText(file), dirname(file));
  } catch (error) {
    if (!(error instanceof UnusablePolicy)) throw error;
    throw new ToolError("PLUGIN_REFUSED", `Cannot use policy ${quoted(name)}: ${error.message}`, {
      cause: error.cause,
    });
  }
}

function nameOf(source: PolicySource): string {
  if (source === undefined) return "default";
  return typeof source === "string" ? basename(source) : "inline";
}

/** What a program passes is read as a file's text would be, so that there is one meaning, and nothing changes later. */
function textOf(file: PolicyFile): string {
  let text: unknown;
  let cause: unknown;
  try {
    text = JSON.stringify(file);
  } catch (error) {
    cause = error;
  }
  if (typeof text !== "string") throw new UnusablePolicy("it is not serialisable", { cause });
  return text;
}

async function readText(file: string): Promise<string> {
  const read = await readBoundedFile(file, policyLimits.fileBytesMax).catch((error: unknown) => {
    throw new UnusablePolicy("it cannot be read", { cause: error });
  });
  if (read.kind === "unfit") throw new UnusablePolicy(read.reason);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(read.bytes);
  } catch (error) {
    throw new UnusablePolicy("it is not UTF-8", { cause: error });
  }
}

async function completed(name: string, text: string, folder: string): Promise<Policy> {
  const file = readJson(text, policyFileSchema);
  const lock = file.lockFile === undefined ? null : await readLock(file.lockFile, folder);
  const plugins = new Map(
    Object.entries(file.plugins).map(([plugin, { sha256, tools }]): [string, PluginPolicy] => [
      plugin,
      { sha256: pinsOf(plugin, sha256 ?? null, lock), tools: toolsOf(tools) },
    ]),
  );
  // JSON has no `undefined`, which would take a limit away.
  const limits: PolicyLimits = { ...policyLimitsMax, ...(file.limits as Partial<PolicyLimits>) };
  return { name, sha256: policySha256({ limits, plugins }), limits, plugins };
}

async function readLock(lockFile: string, folder: string): Promise<PluginLock> {
  try {
    return readJson(await readText(resolve(folder, lockFile)), lockSchema);
  } catch (error) {
    if (!(error instanceof UnusablePolicy)) throw error;
    const lock = `its lock file ${quoted(basename(lockFile))}`;
    throw new UnusablePolicy(`${lock} cannot be used: ${error.message}`, { cause: error.cause });
  }
}

/** Where a policy and its lock file both pin a plugin, both hold. What the lock file does not pin has no file that fits. */
function pinsOf(plugin: string, pins: readonly string[] | null, lock: PluginLock | null): readonly string[] | null {
  if (lock === null) return pins && distinct(pins);
  const locked = Object.hasOwn(lock.plugins, plugin) ? lock.plugins[plugin] : undefined;
  if (!locked) return [];
  if (pins && !pins.includes(locked.sha256)) {
    throw new UnusablePolicy(
      `it pins the plugin ${quoted(plugin)} to ${pins.join(" or ")}, its lock file to ${locked.sha256}`,
    );
  }
  return [locked.sha256];
}

function toolsOf(tools: PolicyFile["plugins"][string]["tools"]): Map<string, ToolPolicy> {
  return new Map(
    Object.entries(tools).map(([tool, { rights, scopes, audience = "model" }]) => [
      tool,
      { rights: distinct(rights), scopes: distinct(scopes), audience },
    ]),
  );
}

const distinct = <Text extends string>(texts: readonly Text[]): readonly Text[] => [...new Set(texts)].toSorted();

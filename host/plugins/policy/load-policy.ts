/** Loads the operator's policy, checks it and adds the defaults. */
import { createHash } from "node:crypto";
import { basename, dirname, resolve } from "node:path";

import { policyLimits } from "../../../shared/limits.ts";
import { lockSchema } from "../../../shared/plugin-lock.ts";
import type { PluginLock } from "../../../shared/plugin-lock.ts";
import { parseStrictJson, UnfitJson } from "../../../shared/strict-json.ts";
import { quoted } from "../../../shared/text.ts";
import * as z from "../../../shared/zod.ts";
import { readBoundedFile } from "../../disk/bounded-file.ts";
import { historyDefaults } from "../../values/history-limits.ts";
import type { HistoryLimits } from "../../values/history-limits.ts";
import { parsePlacedJson, placeInJson } from "../../values/json-place.ts";
import { packageFile } from "../../values/package-file.ts";
import { ToolError } from "../../values/tool-error.ts";
import { issueText } from "./issue-text.ts";
import { policyFileSchema } from "./policy-schema.ts";
import type { PolicyFile } from "./policy-schema.ts";
import { policyLimitsMax, trustDefaults } from "./policy.ts";
import type { PluginPolicy, Policy, PolicyLimits, ToolPolicy, TrustPolicy } from "./policy.ts";

/** A policy file, or the content of one. `undefined` means the policy in the package. */
export type PolicySource = string | PolicyFile | undefined;

/**
 * Throws `PLUGIN_REFUSED` for a policy that cannot be used, because no plugin can be checked against it: the file is
 * missing or invalid, or the policy and its lock file pin different files. A plugin that the lock file does not pin
 * does not make the policy unusable; only that plugin is refused when it is loaded.
 */
export async function loadPolicy(source: PolicySource): Promise<Policy> {
  const name = nameOf(source);
  try {
    if (typeof source === "object")
      return await completed(name, readJson(textOf(source), policyFileSchema, "object"), ".");
    const file = source ?? defaultPolicyFile();
    return await completed(name, readJson(await readText(file), policyFileSchema, "file"), dirname(file));
  } catch (error) {
    if (!(error instanceof UnusablePolicy)) throw error;
    throw new ToolError("PLUGIN_REFUSED", `Cannot use policy ${quoted(name)}: ${error.message}`, {
      cause: error.cause,
    });
  }
}

/** Its lock file is another file of the package. */
function defaultPolicyFile(): string {
  packageFile("build/plugins.lock.json");
  return packageFile("host/plugins/policy/default-policy.json");
}

function nameOf(source: PolicySource): string {
  if (source === undefined) return "default";
  return typeof source === "string" ? basename(source) : "inline";
}

/** Converts a policy object to a file's text: both have one meaning, and later changes to the object do not count. */
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

async function completed(name: string, file: PolicyFile, folder: string): Promise<Policy> {
  const lock = file.lockFile === undefined ? null : await readLock(file.lockFile, folder);
  const plugins = new Map(
    Object.entries(file.plugins).map(([plugin, { sha256, trust, tools }]): [string, PluginPolicy] => [
      plugin,
      {
        sha256: pinsOf(plugin, sha256 ?? null, lock),
        // JSON has no `undefined`, so the spread cannot remove a default.
        trust: { ...trustDefaults, ...(trust as Partial<TrustPolicy>) },
        tools: toolsOf(tools),
      },
    ]),
  );
  // JSON has no `undefined`, so no spread can remove a limit.
  const limits: PolicyLimits = { ...policyLimitsMax, ...(file.limits as Partial<PolicyLimits>) };
  const history: HistoryLimits = { ...historyDefaults, ...(file.history as Partial<HistoryLimits>) };
  const meaning = { limits, history, isStrict: file.strict === true, plugins };
  return { name, sha256: policySha256(meaning), ...meaning };
}

async function readLock(lockFile: string, folder: string): Promise<PluginLock> {
  try {
    return readJson(await readText(resolve(folder, lockFile)), lockSchema, "file");
  } catch (error) {
    if (!(error instanceof UnusablePolicy)) throw error;
    const lock = `its lock file ${quoted(basename(lockFile))}`;
    throw new UnusablePolicy(`${lock} cannot be used: ${error.message}`, { cause: error.cause });
  }
}

/** If policy and lock file both pin a plugin, both must hold. A plugin that the lock file does not pin has no file. */
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

/** The SHA-256 of a policy's canonical form, in which every list and table is sorted. */
function policySha256({ limits, history, isStrict, plugins }: Omit<Policy, "name" | "sha256">): string {
  const form = {
    ...(isStrict && { isStrict }),
    limits: sorted(Object.entries(limits)),
    history: sorted(Object.entries(history)),
    plugins: sorted(plugins).map(([plugin, { sha256, trust, tools }]) => [
      plugin,
      sha256,
      sorted(tools),
      sorted(Object.entries(trust)),
    ]),
  };
  return createHash("sha256").update(JSON.stringify(form)).digest("hex");
}

function sorted<Value>(entries: Iterable<[string, Value]>): [string, Value][] {
  return [...entries].toSorted(([one], [other]) => (one < other ? -1 : 1));
}

/** A policy or its lock file cannot be used. The message is a clause about "it". */
class UnusablePolicy extends RangeError {}

/** Parses JSON and checks it against a schema. An error about a file says in which line and column it is. */
function readJson<Value>(text: string, schema: z.ZodMiniType<Value>, from: "file" | "object"): Value {
  const value = parse(text, from === "file" ? parsePlacedJson : parseStrictJson);
  const parsed = z.safeParse(schema, value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  if (!issue) throw new UnusablePolicy("it has the wrong form");
  const unknownKey = issue.code === "unrecognized_keys" ? issue.keys.slice(0, 1) : [];
  const place = from === "file" ? ` (${placeInJson(text, [...issue.path, ...unknownKey])})` : "";
  throw new UnusablePolicy(issueText(issue, value) + place);
}

function parse(text: string, parseJson: typeof parseStrictJson): unknown {
  const { fileBytesMax, depthMax } = policyLimits;
  const bytes = Buffer.byteLength(text);
  if (bytes > fileBytesMax) throw new UnusablePolicy(`it is ${bytes} bytes, at most ${fileBytesMax} allowed`);
  try {
    return parseJson(text, depthMax);
  } catch (error) {
    if (!(error instanceof UnfitJson)) throw error;
    throw new UnusablePolicy(`it ${error.message}`, { cause: error.cause });
  }
}

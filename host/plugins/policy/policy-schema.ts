/** The form of a policy file. `policy.schema.json` beside this file is the same as JSON Schema, for editors. */
import { rights } from "../../../shared/abi.ts";
import type { Right } from "../../../shared/abi.ts";
import { toolName } from "../../../shared/manifest.ts";
import { isAtLeast, originClasses } from "../../../shared/origin.ts";
import type { OriginClass } from "../../../shared/origin.ts";
import { scopeName } from "../../../shared/path.ts";
import { byPluginName, sha256Schema } from "../../../shared/plugin-lock.ts";
import { anyStore } from "../../../shared/shared-scope.ts";
import * as z from "../../../shared/zod.ts";
import { historyRanges } from "../../values/history-limits.ts";
import type { HistoryLimits } from "../../values/history-limits.ts";
import { policyLimitsMax, trustDefaults } from "./policy.ts";
import type { PolicyLimits, TrustPolicy } from "./policy.ts";

/**
 * What a host is willing to grant: the content of a policy file. Anything that it does not name is not granted: a tool
 * that requests more is not available.
 *
 * @example
 * const policy: PolicyFile = {
 *   version: 1,
 *   limits: { deadlineMs: 2_000 },
 *   plugins: { "user-memory": { tools: { ReadUserMemory: { rights: ["read", "list"], scopes: ["memory"] } } } },
 * };
 */
export interface PolicyFile {
  /** Where an editor finds the JSON Schema. The host ignores it. */
  readonly $schema?: string | undefined;
  readonly version: 1;
  /**
   * A file with the hash of each plugin, as the build writes it. Relative to the policy's folder, or to the working
   * directory if the policy is an object. It must pin every plugin of the policy.
   */
  readonly lockFile?: string | undefined;
  /**
   * Whether a plugin that requests more than the policy grants is `PLUGIN_REFUSED`, with all its tools. Default `false`:
   * only what the policy does not grant is not available.
   */
  readonly strict?: boolean | undefined;
  /** Bounds of every call. Each can only lower the default, and is at least 1. */
  readonly limits?: { readonly [Name in keyof PolicyLimits]?: number | undefined } | undefined;
  /**
   * How much of what files were is kept, in each user's history. `daysMax` (1 to 3,650, default 90): for so many days
   * after it was replaced or deleted. `bytesMax` (1 MiB to 256 MiB, default 32 MiB): on the disk, the newest.
   */
  readonly history?: { readonly [Name in keyof HistoryLimits]?: number | undefined } | undefined;
  /** By the plugins' names in their manifests. */
  readonly plugins: Readonly<Record<string, PluginEntry>>;
}

interface PluginEntry {
  /** The SHA-256 of the allowed plugin files, in lower-case hex. Default without a lock file: any file. */
  readonly sha256?: readonly string[] | undefined;
  /**
   * What becomes of a write, and of an entry, by its trust: see `shared/origin.ts`. Each is the lowest trust for which it
   * holds. `active` (default `unstated`): a write takes effect at once. `pending` (default `untrusted_document`): it
   * waits for the owner of the memory; below, it is refused. `prompt` (default `untrusted_document`): the entry is in the
   * prompt's index.
   */
  readonly trust?: { readonly [Name in keyof TrustPolicy]?: OriginClass | undefined } | undefined;
  /** By name, with the maximum rights and scopes of each tool. */
  readonly tools: Readonly<Record<string, ToolEntry>>;
}

interface ToolEntry {
  readonly rights: readonly Right[];
  readonly scopes: readonly string[];
  /** `host`: the tool must not be offered to models; only the host may call it. Default `model`: no restriction. */
  readonly audience?: "model" | "host" | undefined;
}

export const lockFileSchema = z.string("a file's name").check(z.minLength(1, "a file's name"));

/** A scope of the user's folder, or any shared store. */
const scopeOfTool = /^(?:[a-z][a-z0-9-]{0,31}|store:\*)$/;
const scopesAllowed = `a scope's name (${scopeName.source}) or ${anyStore}`;

const toolEntry = z.strictObject(
  {
    rights: z.array(z.enum(rights, `one of ${rights.join(", ")}`), "an array of rights"),
    scopes: z.array(z.string("a scope's name").check(z.regex(scopeOfTool, scopesAllowed)), "an array of scopes"),
    audience: z.optional(z.enum(["model", "host"], "one of model, host")),
  },
  "an object with rights and scopes, and audience",
);

const originClass = (description: string): z.ZodMiniType<OriginClass | undefined> =>
  z.optional(z.enum(originClasses, `one of ${originClasses.join(", ")}`).check(z.meta({ description })));

const trust = z
  .strictObject(
    {
      active: originClass("The lowest trust of a write that takes effect at once."),
      pending: originClass("The lowest trust of a write that waits for its owner. Below, it is refused."),
      prompt: originClass("The lowest trust of an entry in the prompt's index."),
    },
    "an object with active, pending, prompt",
  )
  .check(
    z.refine(
      ({ active = trustDefaults.active, pending = trustDefaults.pending }) => isAtLeast(active, pending),
      "an object whose pending is not above its active",
    ),
  );

const pluginEntry = z.strictObject(
  {
    sha256: z.optional(z.array(sha256Schema, "an array of hashes").check(z.minLength(1, "at least one hash"))),
    trust: z.optional(trust),
    tools: z.record(z.string().check(z.regex(toolName)), toolEntry, `an object with tools' names (${toolName.source})`),
  },
  "an object with tools, and sha256, trust",
);

const limits = z.strictObject(
  {
    deadlineMs: limit("deadlineMs", "How long a guest may run, in milliseconds."),
    fuelPolls: limit("fuelPolls", "A guest's computing budget, in polls of its engine."),
    memoryPages: limit("memoryPages", "How far a guest's memory may grow, in pages of 64 KiB."),
    inputBytes: limit("inputBytes", "The input of a call as JSON, in UTF-8 bytes."),
    hostCalls: limit("hostCalls", "Capability requests of one call."),
    stagedBytes: limit("stagedBytes", "What one call may write, in UTF-8 bytes."),
  },
  `an object with ${Object.keys(policyLimitsMax).join(", ")}`,
);

const history = z.strictObject(
  {
    daysMax: historyLimit("daysMax", "For how many days a content is kept after it was replaced or deleted."),
    bytesMax: historyLimit("bytesMax", "How many bytes of contents the history of a user keeps on the disk."),
  },
  `an object with ${Object.keys(historyRanges).join(", ")}`,
);

export const policyFileSchema: z.ZodMiniType<PolicyFile> = z.strictObject(
  {
    $schema: z.optional(z.string("a text")),
    version: z.literal(1, "1"),
    lockFile: z.optional(lockFileSchema),
    strict: z.optional(
      z
        .boolean("true or false")
        .check(
          z.meta({ description: "Refuses a plugin that asks for more than is granted, instead of taking that away." }),
        ),
    ),
    limits: z.optional(limits),
    history: z.optional(history),
    plugins: byPluginName(pluginEntry),
  },
  "an object with version, plugins, and $schema, lockFile, strict, limits, history",
);

function limit(name: keyof PolicyLimits, description: string): z.ZodMiniType<number | undefined> {
  return wholeNumber({ min: 1, max: policyLimitsMax[name] }, description);
}

function historyLimit(name: keyof HistoryLimits, description: string): z.ZodMiniType<number | undefined> {
  return wholeNumber(historyRanges[name], description);
}

interface Range {
  readonly min: number;
  readonly max: number;
}

function wholeNumber({ min, max }: Range, description: string): z.ZodMiniType<number | undefined> {
  const allowed = `a whole number from ${min} to ${max}`;
  return z.optional(z.int(allowed).check(z.minimum(min, allowed), z.maximum(max, allowed), z.meta({ description })));
}

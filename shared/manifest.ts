/**
 * A plugin's manifest, sealed into the file as the custom section `memcell:manifest`.
 *
 * A host reads it before it runs the plugin, and refuses a file that does not match it exactly.
 */
import { abiVersions, rights } from "./abi.ts";
import { declarableCodes } from "./errors.ts";
import type { ErrorCode } from "./errors.ts";
import { guestLimits } from "./limits.ts";
import { scopeName } from "./path.ts";
import { roleNames } from "./roles.ts";
import { anyStore } from "./shared-scope.ts";
import * as z from "./zod.ts";

export const manifestSection = "memcell:manifest";

const exportName = /^[a-z][a-z0-9_]{0,63}$/;
export const toolName: RegExp = /^[A-Za-z][A-Za-z0-9_]{0,63}$/;
export const familyName: RegExp = /^[a-z][a-z0-9-]{0,63}$/;
/** An error code of the table, or one that a plugin declares. */
export const errorCodeName: RegExp = /^[A-Z][A-Z_]{0,63}$/;

/** `model`: offered to a model. `host`: called by the host for itself, such as the tool for the index of a prompt. */
const audience = z.enum(["model", "host"]);

/**
 * One of several things that a tool does, chosen by the field `command` of its input. Each has an export and rights of
 * its own, so a tool that finds, changes and shares can be granted each of these only where it does it.
 */
const command = z.strictObject({
  name: z.string().check(z.regex(/^[a-z][a-z_]{0,31}$/)),
  export: z.string().check(z.regex(exportName)),
  rights: z.array(z.enum(rights)),
  /** The properties of the tool's input that it takes, besides `command`. */
  fields: z.array(z.string()),
});

const tool = z.strictObject({
  name: z.string().check(z.regex(toolName)),
  /** Absent if the tool has commands. */
  export: z.optional(z.string().check(z.regex(exportName))),
  /** ABI version 2. `rights` then are those of all commands together. */
  commands: z.optional(z.array(command).check(z.minLength(1), z.maxLength(64))),
  audience,
  /** What a host can use the tool for without knowing the family: see `roles.ts`. A plugin has one tool per role. */
  role: z.optional(z.enum(roleNames)),
  /**
   * The path of an entry's file inside the scope, with `{name}` in place of the entry's name. Only with the role
   * `entries`, where each entry has its own file. A host uses it to find the entry of a changed or trashed file.
   */
  entryFile: z.optional(z.string()),
  /**
   * The files inside the scope that the family makes from its other files, such as an index: paths, and folders with
   * `/` at the end for every file below them. Only with the role `inspect`. To a host, reading or writing such a file
   * says nothing about the origin of an entry.
   */
  derivedFiles: z.optional(z.array(z.string())),
  description: z.string(),
  /** The tool's page, in Markdown, for people and for models that request it. */
  documentation: z.optional(z.string().check(z.minLength(1))),
  /** JSON Schema, draft 2020-12. */
  input: z.record(z.string(), z.unknown()),
  /** JSON Schema of the envelope's `data`. */
  output: z.record(z.string(), z.unknown()),
  /** Scopes of the user's folder, or `store:*` alone. */
  scopes: z.array(z.union([z.string().check(z.regex(scopeName)), z.literal(anyStore)])),
  rights: z.array(z.enum(rights)),
});

/** The codes that a plugin can report on its own: faults of a call, and failures of the plugin itself. */
export const reportableCodes = [
  ...declarableCodes,
  "CAPABILITY_DENIED",
  "GUEST_TRAPPED",
  "FUEL_EXHAUSTED",
  "MEMORY_EXCEEDED",
] as const satisfies readonly ErrorCode[];

const pluginError = z.strictObject({
  code: z.string().check(z.regex(errorCodeName)),
  of: z.enum(declarableCodes),
  meaning: z.string().check(z.minLength(1)),
});

export const manifestSchema = z.strictObject({
  name: z.string().check(z.regex(familyName)),
  version: z.string().check(z.regex(/^\d+\.\d+\.\d+$/)),
  /**
   * For models that get its tools: when and how to use this family's memory, and what it is not for. One to three
   * sentences in one line. A host puts them into the instructions of a session, next to those of other families.
   */
  instructions: z.optional(z.string().check(z.minLength(1))),
  abi: z.union(abiVersions.map((each) => z.literal(each))),
  tools: z.array(tool).check(z.minLength(1)),
  /** Codes that its tools report in addition to the table's. */
  errors: z.optional(z.array(pluginError)),
  /** Wasm pages of 64 KiB. */
  memoryPages: z.strictObject({ min: z.int(), max: z.int() }),
  fuelPolls: z.int(),
  deadlineMs: z.int(),
});

export type Manifest = z.infer<typeof manifestSchema>;
export type ManifestTool = Manifest["tools"][number];
export type ToolCommand = NonNullable<ManifestTool["commands"]>[number];

/** The exports of a tool: its own, or those of its commands. */
export function exportsOf({ export: own, commands }: Pick<ManifestTool, "export" | "commands">): string[] {
  return [...(own === undefined ? [] : [own]), ...(commands ?? []).map((each) => each.export)];
}

/**
 * An error code that a plugin declares, for callers that know its family. `of` is the table's code that it is a case
 * of, and gives it `blame` and `retryable`. `meaning` is a sentence for models and people.
 *
 * @example
 * const taken: PluginError = { code: "KEY_EXISTS", of: "NAME_CONFLICT", meaning: "A note has this key already." };
 */
export type PluginError = z.infer<typeof pluginError>;

/**
 * What a family's `family.ts` declares: the manifest without the memory's size, which the build adds, and with zod
 * schemas, from which the build derives JSON Schemas. The build reads `documentation` from the file
 * `<name of the tool>.md` beside it, if there is one.
 */
export interface Family {
  readonly name: string;
  readonly version: string;
  /** See the manifest. Names the tools that models get, because a model reads it beside those of other families. */
  readonly instructions?: string;
  readonly tools: readonly (Omit<ManifestTool, "input" | "output"> & {
    readonly input: z.ZodMiniType;
    readonly output: z.ZodMiniType;
    /**
     * The input exactly, where `input` says less because it must be one flat object. It is not in the manifest: the
     * build makes the types for programs from it.
     */
    readonly exactInput?: z.ZodMiniType;
  })[];
  /** Codes that its tools report in addition to the table's, at most 64. Default none. */
  readonly errors?: readonly PluginError[];
}

/** The default fuel and deadline in a manifest. */
export const defaultBudget = {
  fuelPolls: guestLimits.fuelPollsMax,
  deadlineMs: guestLimits.deadlineMs,
} as const;

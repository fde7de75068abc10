/**
 * What a plugin says of itself, sealed into it as the custom section `memcell:manifest`.
 *
 * A host reads it before it runs anything, and refuses a file that is not exactly what its manifest says.
 */
import { abiVersion, rights } from "./abi.ts";
import { declarableCodes } from "./errors.ts";
import type { ErrorCode } from "./errors.ts";
import { guestLimits } from "./limits.ts";
import { scopeName } from "./path.ts";
import { roleNames } from "./roles.ts";
import * as z from "./zod.ts";

export const manifestSection = "memcell:manifest";

const exportName = /^[a-z][a-z0-9_]{0,63}$/;
export const toolName: RegExp = /^[A-Za-z][A-Za-z0-9_]{0,63}$/;
export const familyName: RegExp = /^[a-z][a-z0-9-]{0,63}$/;
/** Of the table, or of a plugin. */
export const errorCodeName: RegExp = /^[A-Z][A-Z_]{0,63}$/;

/** `model`: offered to a model as a function. `host`: called by the host for itself, such as the index of a prompt. */
const audience = z.enum(["model", "host"]);

const tool = z.strictObject({
  name: z.string().check(z.regex(toolName)),
  export: z.string().check(z.regex(exportName)),
  audience,
  /** What a host may ask of it without knowing the family: see `roles.ts`. At most one tool of a plugin has each. */
  role: z.optional(z.enum(roleNames)),
  /**
   * Beside the role `entries`, where each entry is a file of its own: its path inside the scope, with `{name}` where the
   * entry's name stands. By it a host tells which entry a changed or trashed file is.
   */
  entryFile: z.optional(z.string()),
  description: z.string(),
  /** The tool's page, in Markdown, for a model that asks and for people. */
  documentation: z.optional(z.string().check(z.minLength(1))),
  /** JSON Schema, draft 2020-12. */
  input: z.record(z.string(), z.unknown()),
  /** JSON Schema of the envelope's `data`. */
  output: z.record(z.string(), z.unknown()),
  scopes: z.array(z.string().check(z.regex(scopeName))),
  rights: z.array(z.enum(rights)),
});

/** What a plugin may report without having been told it: those, and what becomes of a plugin. */
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
  abi: z.literal(abiVersion),
  tools: z.array(tool).check(z.minLength(1)),
  /** Codes that its tools report beside those of the table. */
  errors: z.optional(z.array(pluginError)),
  /** Wasm pages of 64 KiB. */
  memoryPages: z.strictObject({ min: z.int(), max: z.int() }),
  fuelPolls: z.int(),
  deadlineMs: z.int(),
});

export type Manifest = z.infer<typeof manifestSchema>;
export type ManifestTool = Manifest["tools"][number];

/**
 * An error code of a plugin's own, for callers who know its family. `of` is the code of the table that it is a case of:
 * blame, and whether it is worth trying again, are that one's. `meaning` is a sentence for models and people.
 *
 * @example
 * const taken: PluginError = { code: "KEY_EXISTS", of: "NAME_CONFLICT", meaning: "A note has this key already." };
 */
export type PluginError = z.infer<typeof pluginError>;

/**
 * What a family's `family.ts` declares: the manifest before the build knows the memory's size, with zod schemas where
 * the manifest holds the JSON Schemas derived from them. `documentation` is not written there: the build reads it from
 * the file `<name of the tool>.md` beside it, where there is one.
 */
export interface Family {
  readonly name: string;
  readonly version: string;
  readonly tools: readonly (Omit<ManifestTool, "input" | "output"> & {
    readonly input: z.ZodMiniType;
    readonly output: z.ZodMiniType;
  })[];
  /** Codes that its tools report beside those of the table, at most 64. Default none. */
  readonly errors?: readonly PluginError[];
}

/** What a plugin may use unless its family says otherwise. */
export const defaultBudget = {
  fuelPolls: guestLimits.fuelPollsMax,
  deadlineMs: guestLimits.deadlineMs,
} as const;

/**
 * What a plugin says of itself, sealed into it as the custom section `memcell:manifest`.
 *
 * A host reads it before it runs anything, and refuses a file that is not exactly what its manifest says.
 */
import { abiVersion, rights } from "./abi.ts";
import { guestLimits } from "./limits.ts";
import { scopeName } from "./path.ts";
import * as z from "./zod.ts";

export const manifestSection = "memcell:manifest";

const exportName = /^[a-z][a-z0-9_]{0,63}$/;
export const toolName: RegExp = /^[A-Za-z][A-Za-z0-9_]{0,63}$/;
export const familyName: RegExp = /^[a-z][a-z0-9-]{0,63}$/;

/** `model`: offered to a model as a function. `host`: called by the host for itself, such as the index of a prompt. */
const audience = z.enum(["model", "host"]);

const tool = z.strictObject({
  name: z.string().check(z.regex(toolName)),
  export: z.string().check(z.regex(exportName)),
  audience,
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

export const manifestSchema = z.strictObject({
  name: z.string().check(z.regex(familyName)),
  version: z.string().check(z.regex(/^\d+\.\d+\.\d+$/)),
  abi: z.literal(abiVersion),
  tools: z.array(tool).check(z.minLength(1)),
  /** Wasm pages of 64 KiB. */
  memoryPages: z.strictObject({ min: z.int(), max: z.int() }),
  fuelPolls: z.int(),
  deadlineMs: z.int(),
});

export type Manifest = z.infer<typeof manifestSchema>;
export type ManifestTool = Manifest["tools"][number];

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
}

/** What a plugin may use unless its family says otherwise. */
export const defaultBudget = {
  fuelPolls: guestLimits.fuelPollsMax,
  deadlineMs: guestLimits.deadlineMs,
} as const;

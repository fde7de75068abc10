/**
 * The part of zod that memcell uses, and the only file that imports it.
 *
 * `zod/mini` because these schemas are linked into the guest: 9 KB there, where the full `zod` takes 450 KB.
 * Named re-exports, not a namespace, so that the bundler can drop what a plugin does not use.
 * The JIT is off: it would call `Function`, which the guest does not have.
 */
import { config, meta } from "zod/mini";
import type { ZodMiniType } from "zod/mini";

export {
  array,
  boolean,
  discriminatedUnion,
  enum,
  int,
  literal,
  maximum,
  maxLength,
  meta,
  minimum,
  minLength,
  nonnegative,
  nullable,
  number,
  object,
  optional,
  record,
  refine,
  regex,
  safeParse,
  strictObject,
  string,
  toJSONSchema,
  union,
  unknown,
} from "zod/mini";
export type { infer, ZodMiniType } from "zod/mini";

config({ jitless: true });

/**
 * A schema with a description. As `check` with `meta`, but one call of which the bundler knows that it only
 * makes a schema, and which it drops with the schemas that a guest does not parse with.
 */
export function described<Schema extends ZodMiniType>(schema: Schema, description: string): Schema {
  return schema.check(meta({ description }));
}

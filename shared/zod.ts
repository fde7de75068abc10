/**
 * The part of zod that memcell uses, and the only file that imports it.
 *
 * `zod/mini` because these schemas are linked into the guest: it takes 9 KB there, the full `zod` 450 KB.
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
  pipe,
  readonly,
  record,
  refine,
  regex,
  safeParse,
  strictObject,
  string,
  toJSONSchema,
  transform,
  union,
  unknown,
} from "zod/mini";
export type { infer, ZodMiniType } from "zod/mini";

config({ jitless: true });

/**
 * Returns the schema with a description, like `check` with `meta`. The bundler knows that this call only makes a
 * schema, so it can drop it from a plugin that does not parse with the schema.
 */
export function described<Schema extends ZodMiniType>(schema: Schema, description: string): Schema {
  return schema.check(meta({ description }));
}

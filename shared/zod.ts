/**
 * The part of zod that memcell uses, and the only file that imports it.
 *
 * `zod/mini` because these schemas are linked into the guest: 9 KB there, where the full `zod` takes 450 KB.
 * Named re-exports, not a namespace, so that the bundler can drop what a plugin does not use.
 * The JIT is off: it would call `Function`, which the guest does not have.
 */
import { config } from "zod/mini";

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

/** The inputs of the tools for programs. */
import type { ClearInput, GetInput, ReadInput, SetInput } from "../../shared/roles.ts";
import * as z from "../../shared/zod.ts";
import type { BatchInput } from "./items/run-batch.ts";
import { ttlField } from "./schemas.ts";

const text = (allowed: string): z.ZodMiniType<string> => z.string({ error: allowed });
const key = text("a key");
const namespace = z.optional(text("a namespace"));
const store = z.optional(text("a store's id, a UUID in lower case"));
const encrypted = z.optional(z.boolean({ error: "true or false" }));

/** Any JSON value, but not nothing. */
const value = z.unknown().check(z.refine((given) => given !== undefined, { error: "any JSON value" }));

export const readInput: z.ZodMiniType<ReadInput> = z.strictObject(
  { name: text("an entry's key") },
  { error: "no other field than name" },
);

export const getInternalInput: z.ZodMiniType<GetInput> = z.strictObject(
  { store, key, namespace },
  { error: "no other fields than store, key and namespace" },
);

export const setInternalInput: z.ZodMiniType<SetInput> = z.strictObject(
  { store, key, namespace, value, encrypted, ttl: ttlField },
  { error: "no other fields than store, key, namespace, value, encrypted and ttl" },
);

export const clearInput: z.ZodMiniType<ClearInput> = z.strictObject(
  { creator: text("the id of another user's own store") },
  { error: "no other field than creator" },
);

export const batchInput: z.ZodMiniType<BatchInput> = z.strictObject(
  { operations: z.array(z.unknown(), { error: "a list of operations" }) },
  { error: "no other field than operations" },
);

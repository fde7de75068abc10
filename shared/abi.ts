/**
 * The capability ABI, versions 1 and 2: what a plugin may import, and the form of requests and replies. Version 2 adds
 * shared stores.
 *
 * Each capability takes one block (a JSON request) and returns one block (a JSON reply). `README.md` beside this file
 * is the specification for hosts in other languages.
 */
import type { Failure } from "./envelope.ts";
import { accessLevels, accessSources } from "./shared-scope.ts";
import type { AccessLevel } from "./shared-scope.ts";
import * as z from "./zod.ts";

export const abiVersions = [1, 2] as const;
export type AbiVersion = (typeof abiVersions)[number];

/** The Extism kernel functions that a plugin may import, with their types. They mean the same in every SDK. */
export const kernelModule = "extism:host/env";
export const kernelSignatures = {
  input_length: "->i64",
  input_load_u8: "i64->i32",
  input_load_u64: "i64->i64",
  alloc: "i64->i64",
  free: "i64->",
  length: "i64->i64",
  load_u8: "i64->i32",
  load_u64: "i64->i64",
  store_u8: "i64,i32->",
  store_u64: "i64,i64->",
  output_set: "i64,i64->",
  error_set: "i64->",
  config_get: "i64->i64",
  log_info: "i64->",
  log_warn: "i64->",
  log_error: "i64->",
  log_debug: "i64->",
} as const satisfies Record<string, string>;

export type KernelFunction = keyof typeof kernelSignatures;

/** A capability takes the handle of a request and returns the handle of a reply. */
export const capabilitySignature = "i64->i64";

/** A tool takes nothing and returns its code. */
export const toolSignature = "->i32";

/** The import module of the capabilities. */
export const capabilityModule = "extism:host/user";

/**
 * The Extism configuration key by which a host lowers the fuel of an instance: a whole number of polls in decimal
 * digits. A number above the manifest's `fuelPolls` counts as `fuelPolls`.
 */
export const fuelConfigKey = "memcell.fuelPolls";

/**
 * The key by which a host says that it takes the field `shows` beside an answer, with any value. Other hosts refuse an
 * answer with a field that they do not know.
 */
export const showsConfigKey = "memcell.shows";

/** A file together with its scope, as `shows` names it. No path has a colon. */
export const placeIn = (scope: string, path: string): string => `${scope}:${path}`;

/** The rights of version 1, then those that version 2 adds. */
export const rights = ["read", "list", "write", "trash", "clock", "search", "grant_list", "grant_set"] as const;
export type Right = (typeof rights)[number];
export const rightsOfAbi1: readonly Right[] = rights.slice(0, 5);

/** Each capability and the right it needs. `search` belongs to no capability: see `shared-scope.ts`. */
export const capabilityRights = {
  store_read: "read",
  store_list: "list",
  store_write: "write",
  store_trash: "trash",
  clock_now: "clock",
  grant_list: "grant_list",
  grant_set: "grant_set",
} as const satisfies Record<string, Right>;

export type CapabilityName = keyof typeof capabilityRights;

export const capabilityNames: readonly CapabilityName[] = Object.keys(capabilityRights) as CapabilityName[];

/** The capabilities that reach files. */
export type StoreCapability = Extract<CapabilityName, `store_${string}`>;

/** The level that a capability of a tool needs. Only a tool with the right `search` reads a store of that level. */
export function levelFor(capability: StoreCapability, granted: readonly Right[]): AccessLevel {
  if (capability === "store_write" || capability === "store_trash") return "readwrite";
  return granted.includes("search") ? "search" : "read";
}

/** The requests a guest can send. Unknown keys are refused, so that a request means the same in every version. */
export const requestSchemas = {
  store_read: z.strictObject({ scope: z.string(), path: z.string() }),
  store_list: z.strictObject({ scope: z.string(), prefix: z.optional(z.string()) }),
  store_write: z.strictObject({ scope: z.string(), path: z.string(), content: z.string() }),
  store_trash: z.strictObject({ scope: z.string(), path: z.string() }),
  clock_now: z.strictObject({}),
  grant_list: z.strictObject({ scope: z.optional(z.string()) }),
  grant_set: z.strictObject({
    scope: z.string(),
    grantee: z.string(),
    level: z.nullable(z.enum(accessLevels)),
    expiresMs: z.optional(z.nullable(z.int())),
  }),
} as const;

/** The ABI version that has defined a capability. */
export const abiOf = (name: CapabilityName): AbiVersion => (name.startsWith("grant_") ? 2 : 1);

export type CapabilityRequest<Name extends CapabilityName> = z.infer<(typeof requestSchemas)[Name]>;

const listedFile = z.strictObject({
  path: z.string(),
  bytes: z.int(),
  /**
   * When the file was last changed, in microseconds since 1970; 0 if this call has staged it. A host can leave it out in
   * version 1. It is always there in a shared store.
   */
  changedUs: z.optional(z.int()),
});

const reachedStore = z.strictObject({
  /** Its id. */
  store: z.string(),
  /** `null`: not reached, or no such store. */
  level: z.nullable(z.enum(accessLevels)),
  source: z.nullable(z.enum(accessSources)),
});

const storeGrant = z.strictObject({
  grantee: z.string(),
  level: z.enum(accessLevels),
  grantedMs: z.int(),
  expiresMs: z.nullable(z.int()),
});

/** The host's replies on success. */
export const replySchemas = {
  store_read: z.strictObject({ ok: z.literal(true), content: z.nullable(z.string()) }),
  store_list: z.strictObject({
    ok: z.literal(true),
    entries: z.array(listedFile),
    /** Without a prefix: how many files, links and the like the list leaves out, because no guest can read them. A host can leave it out. */
    leftOut: z.optional(z.int()),
  }),
  store_write: z.strictObject({ ok: z.literal(true) }),
  store_trash: z.strictObject({ ok: z.literal(true), trashed: z.string() }),
  clock_now: z.strictObject({ ok: z.literal(true), epochMs: z.int() }),
  grant_list: z.strictObject({
    ok: z.literal(true),
    /** With a scope: that store. Without: every store that the caller reaches, its own first. */
    stores: z.array(reachedStore),
    /** With the scope of a store that the caller owns: its live grants. */
    grants: z.optional(z.array(storeGrant)),
  }),
  /** `before`: the level that the grantee had; `null` if none. */
  grant_set: z.strictObject({ ok: z.literal(true), before: z.nullable(z.enum(accessLevels)) }),
} as const;

export type CapabilityReply<Name extends CapabilityName> = z.infer<(typeof replySchemas)[Name]>;

/** The host's reply to a refused request. Never a trap, never handle 0. */
export interface CapabilityRefusal {
  ok: false;
  error: Failure;
  /**
   * Of `store_read`, if the file is not UTF-8 text: what can be read of it. Each run of other bytes is one U+FFFD. If the
   * bytes begin with a byte order mark of UTF-16, it is their text. A guest that does not know it finds the file
   * unreadable as a whole.
   */
  readable?: string;
}

/** One file of a listing. `bytes` is its size on disk. */
export type ListedFile = z.infer<typeof listedFile>;

/** A store as `grant_list` returns it. */
export type ReachedStore = z.infer<typeof reachedStore>;

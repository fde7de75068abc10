/**
 * One line of the audit log, as it is written and as it is read again. It tells who did what with which right to which
 * path; never what a file, an input or an answer holds.
 */
import { rights } from "../../shared/abi.ts";
import { errorCodes } from "../../shared/errors.ts";
import * as z from "../../shared/zod.ts";

const sha256 = z.string().check(z.regex(/^[0-9a-f]{64}$/));
const count = z.int();
/** An error code, or `null` where all went well. */
const outcome = z.nullable(z.enum(errorCodes));

const plugin = z.strictObject({ name: z.string(), version: z.string(), sha256 });

/** Bytes are UTF-8, as on disk. */
const file = z.strictObject({ scope: z.string(), path: z.string(), bytes: count });

/** What every record begins with. */
const chained = {
  /** From 0; one more than the record's before it, also where a file of the log ends and the next begins. */
  seq: count,
  /** When it was written: ISO 8601, UTC, milliseconds. Of the machine's clock, not of the runtime's `clock` option. */
  time: z.string(),
  /** SHA-256 of the line before, without its line feed; 64 zeros in the first. */
  prev: sha256,
};

/** What names a call in all of its records. */
const ofCall = {
  callId: z.string(),
  /** `null` when the caller named none that is valid. */
  userId: z.nullable(z.string()),
  /** `null` when it is no tool's name. */
  tool: z.nullable(z.string()),
};

const changed = {
  writes: z.array(file),
  /** Files moved; `trashed` is the path below `trash/`. */
  trashed: z.array(z.strictObject({ ...file.shape, trashed: z.string() })),
  /** Files removed for good, which only the owner of the data can ask for. */
  removed: z.array(file),
};

/** A runtime has opened the log. */
const opened = z.strictObject({
  ...chained,
  kind: z.literal("opened"),
  memcell: z.string(),
  plugins: z.array(plugin),
  /** SHA-256 of the policy that these plugins were judged by. */
  policy: sha256,
  /** Bytes of a record that was not finished, at the end of the file; they were cut off. */
  tornBytes: count,
  /** Records that once were there: those between the last one found and the one that the log's head remembers. */
  missing: count,
});

/** Changes that are about to be committed: written, and told to the system, before the first file changes. */
const staged = z.strictObject({ ...chained, kind: z.literal("staged"), ...ofCall, ...changed });

/** A capability use that was denied, or that failed. */
const use = z.strictObject({
  ...chained,
  kind: z.literal("use"),
  ...ofCall,
  capability: z.string(),
  /** What the guest named, at most 128 characters of each; `null` where it named nothing. */
  scope: z.nullable(z.string()),
  path: z.nullable(z.string()),
  code: z.enum(errorCodes),
});

/** A call has ended. */
const call = z.strictObject({
  ...chained,
  kind: z.literal("call"),
  ...ofCall,
  /** `null` when no plugin was reached. */
  plugin: z.nullable(plugin),
  scopes: z.array(z.string()),
  rights: z.array(z.enum(rights)),
  /** Files that were read; `bytes` is `null` where there was none. */
  reads: z.array(z.strictObject({ ...file.shape, bytes: z.nullable(count) })),
  lists: z.array(z.strictObject({ scope: z.string(), prefix: z.string(), files: count })),
  ...changed,
  /** Uses beyond those that the record has room for. */
  usesNotShown: count,
  usesDenied: count,
  usesFailed: count,
  /** `none`: the guest changed nothing, or did not get so far. */
  changes: z.enum(["none", "committed", "dropped"]),
  code: outcome,
  /** Polls of the guest's engine; `null` when it did not run, was ended with its thread, or does not count them. */
  fuelPolls: z.nullable(count),
  /** From the call to its result, in milliseconds. */
  durationMs: z.number(),
});

/** The owner of the data, and no tool, has looked at a user's files or changed them. */
const upkeep = z.strictObject({
  ...chained,
  kind: z.literal("upkeep"),
  action: z.string(),
  userId: z.nullable(z.string()),
  removed: z.array(file),
  code: outcome,
  durationMs: z.number(),
});

/** Records that could not be written while calls went on without. */
const lost = z.strictObject({ ...chained, kind: z.literal("lost"), records: count });

/** The runtime has closed the log. */
const closed = z.strictObject({ ...chained, kind: z.literal("closed") });

export const auditRecordSchema = z.discriminatedUnion("kind", [opened, staged, use, call, upkeep, lost, closed]);

export type AuditRecord = z.infer<typeof auditRecordSchema>;

type WithoutChain<Record> = Record extends unknown ? Omit<Record, keyof typeof chained> : never;

/** What is to be recorded; the log adds its place in the chain. */
export type AuditEntry = WithoutChain<AuditRecord>;

export type CallEntry = Extract<AuditEntry, { kind: "call" }>;
export type PluginIdentity = z.infer<typeof plugin>;

/**
 * One line of the audit log, as it is written and as it is read again. It tells who did what with which right to which
 * path; never what a file, an input or an answer holds: no record has a field for it, every text is short, and a record
 * with anything else in it is neither written nor read.
 */
import { capabilityNames, rights } from "../../shared/abi.ts";
import { errorCodes } from "../../shared/errors.ts";
import type { ErrorCode } from "../../shared/errors.ts";
import { auditLimits, callLimits, storeLimits } from "../../shared/limits.ts";
import { errorCodeName } from "../../shared/manifest.ts";
import * as z from "../../shared/zod.ts";
import { labelNamePattern, labelValuePattern } from "../values/call-context.ts";
import { peerPattern, refusalWordPattern } from "../values/refusal.ts";

const sha256 = z.string().check(z.regex(/^[0-9a-f]{64}$/));
const count = z.int().check(z.nonnegative());
const durationMs = z.number().check(z.nonnegative());
/** Of a closed grammar, or of the host's own choice. */
const label = z.string().check(z.maxLength(auditLimits.labelCharsMax));
/** Whatever a guest or a caller has named. */
const named = z.string().check(z.maxLength(auditLimits.namedCharsMax));
const callId = z.string().check(z.minLength(1), z.maxLength(callLimits.callIdCharsMax));
const userId = z.nullable(z.string().check(z.maxLength(storeLimits.userIdBytesMax)));
const refusalWord = z.string().check(z.regex(refusalWordPattern), z.maxLength(auditLimits.labelCharsMax));
const path = z.string().check(z.maxLength(storeLimits.pathCharsMax));
const filesMax = z.maxLength(auditLimits.recordFilesMax);
const usesMax = z.maxLength(auditLimits.recordUsesMax);
/** How a call or an operation has ended. */
const outcome = {
  /** An error code, or `null` where all went well. */
  code: z.nullable(z.string().check(z.regex(errorCodeName))),
  /** Where the code is the plugin's own: the one of the table that it is a case of. */
  of: z.optional(z.enum(errorCodes)),
};

interface Outcome {
  readonly code: string | null;
  readonly of?: ErrorCode | undefined;
}

/** A code is one of the table's, or a plugin's own that is told to be a case of one. */
const isNamed = z.refine<Outcome>(({ code, of }) => {
  const isOfTable = errorCodes.some((each) => each === code);
  return of === undefined ? code === null || isOfTable : code !== null && !isOfTable;
});

const plugin = z.strictObject({ name: label, version: label, sha256 });

/** Bytes are UTF-8, as on disk. */
const file = z.strictObject({ scope: label, path, bytes: count });

/** What every record begins with. */
const chained = {
  /** From 0; one more than the record's before it, also where a file of the log ends and the next begins. */
  seq: count.check(z.maximum(auditLimits.seqMax)),
  /** When it was written: ISO 8601, UTC, milliseconds. Of the machine's clock, not of the runtime's `clock` option. */
  time: z.string().check(z.regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)),
  /** SHA-256 of the line before, without its line feed; 64 zeros in the first. */
  prev: sha256,
};

/** What names a call in all of its records. */
const ofCall = {
  callId,
  /** `null` when the caller named none that is valid. */
  userId,
  /** `null` when it is no tool's name. */
  tool: z.nullable(label),
};

const labelName = z.string().check(z.regex(labelNamePattern), z.maxLength(callLimits.labelNameCharsMax));
const labelValue = z.string().check(z.regex(labelValuePattern), z.maxLength(callLimits.labelValueCharsMax));
const hasFewLabels = (labels: object): boolean => Object.keys(labels).length <= callLimits.labelsMax;

const labelled = {
  /** The caller's, by name; not there when it gave none. */
  labels: z.optional(z.record(labelName, labelValue).check(z.refine(hasFewLabels))),
};

const mounting = {
  /** The scope was a mounted folder, and not in the data folder. Which one it was, who has begun the runtime knows. */
  mounted: z.optional(z.literal(true)),
};

const changed = {
  writes: z.array(file).check(filesMax),
  /** Files moved; `trashed` is the path below `trash/`. */
  trashed: z.array(z.strictObject({ ...file.shape, trashed: path })).check(filesMax),
  /** Files removed for good, which only the owner of the data can ask for. */
  removed: z.array(file).check(filesMax),
};

/** A runtime has opened the log. */
const opened = z.strictObject({
  ...chained,
  kind: z.literal("opened"),
  memcell: label,
  plugins: z.array(plugin).check(z.maxLength(auditLimits.recordPluginsMax)),
  /** SHA-256 of the policy that these plugins were judged by. */
  policy: sha256,
  /** Bytes of a record that was not finished, at the end of the file; they were cut off. */
  tornBytes: count,
  /** Records that once were there: those between the last one found and the one that the log's head remembers. */
  missing: count,
  /**
   * What the head, a file beside the log, said of the log's end.
   *
   * - `new`: there was neither a log nor a head
   * - `agrees`: it named the last record, or the one before it, or one behind it (then `missing` says how many)
   * - `behind`: it named an earlier record, which is there: the machine has stopped, or records were added
   * - `differs`: the record that it named is another
   * - `lost`: it was not there, or could not be read, while the log had records
   */
  head: z.enum(["new", "agrees", "behind", "differs", "lost"]),
});

/** Changes that are about to be committed: written, and told to the system, before the first file changes. */
const staged = z.strictObject({
  ...chained,
  kind: z.literal("staged"),
  ...ofCall,
  ...labelled,
  ...mounting,
  ...changed,
});

/** A capability use that was denied, or that failed. */
const use = z.strictObject({
  ...chained,
  kind: z.literal("use"),
  ...ofCall,
  capability: z.enum(capabilityNames),
  /** What the guest named, at most 128 characters of each; `null` where it named nothing. */
  scope: z.nullable(named),
  path: z.nullable(named),
  code: z.enum(errorCodes),
});

/** A call has ended. */
const call = z
  .strictObject({
    ...chained,
    kind: z.literal("call"),
    ...ofCall,
    ...labelled,
    ...mounting,
    /** `null` when no plugin was reached. */
    plugin: z.nullable(plugin),
    scopes: z.array(label).check(usesMax),
    rights: z.array(z.enum(rights)).check(z.maxLength(rights.length)),
    /** Files that were read; `bytes` is `null` where there was none. */
    reads: z.array(z.strictObject({ ...file.shape, bytes: z.nullable(count) })).check(usesMax),
    lists: z.array(z.strictObject({ scope: label, prefix: path, files: count })).check(usesMax),
    ...changed,
    /** Uses beyond those that the record has room for. */
    usesNotShown: count,
    usesDenied: count,
    usesFailed: count,
    /** `none`: the guest changed nothing, or did not get so far. */
    changes: z.enum(["none", "committed", "dropped"]),
    ...outcome,
    /** Polls of the guest's engine; `null` when it did not run, was ended with its thread, or does not count them. */
    fuelPolls: z.nullable(count),
    /** From the call to its result, in milliseconds. */
    durationMs,
  })
  .check(isNamed);

/** The owner of the data, and no tool, has looked at a user's files or changed them. */
const upkeep = z
  .strictObject({
    ...chained,
    kind: z.literal("upkeep"),
    /** As in a `staged` record before it, when the operation itself changes files, and in those of calls it has made. */
    callId,
    action: label,
    userId,
    ...labelled,
    removed: z.array(file).check(filesMax),
    ...outcome,
    durationMs,
  })
  .check(isNamed);

/** Requests that were refused before any tool was called, by whoever admits users: one, or all of a kind together. */
const refused = z.strictObject({
  ...chained,
  kind: z.literal("refused"),
  surface: refusalWord,
  reason: refusalWord,
  /** Of the identity that had been verified; `null` when none had, and in a record of several. */
  userId,
  /** The address it came from; `null` where it is not known, and in a record of several. */
  peer: z.nullable(z.string().check(z.regex(peerPattern), z.maxLength(auditLimits.peerCharsMax))),
  /** 1; more in a record that stands for those that came too fast to be written one by one. */
  times: z.int().check(z.minimum(1)),
});

/** Records that could not be written while calls went on without. */
const lost = z.strictObject({ ...chained, kind: z.literal("lost"), records: count });

/** The runtime has closed the log. */
const closed = z.strictObject({ ...chained, kind: z.literal("closed") });

export const auditRecordSchema = z.discriminatedUnion("kind", [
  opened,
  staged,
  use,
  call,
  upkeep,
  refused,
  lost,
  closed,
]);

export type AuditRecord = z.infer<typeof auditRecordSchema>;

type WithoutChain<Record> = Record extends unknown ? Omit<Record, keyof typeof chained> : never;

/** What is to be recorded; the log adds its place in the chain. */
export type AuditEntry = WithoutChain<AuditRecord>;

export type StagedEntry = Extract<AuditEntry, { kind: "staged" }>;
export type UseEntry = Extract<AuditEntry, { kind: "use" }>;
export type CallEntry = Extract<AuditEntry, { kind: "call" }>;
export type RefusedEntry = Extract<AuditEntry, { kind: "refused" }>;
export type UpkeepEntry = Extract<AuditEntry, { kind: "upkeep" }>;
export type PluginIdentity = z.infer<typeof plugin>;

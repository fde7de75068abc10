/**
 * One line of the audit log, for writing and reading. It says who used which right on which path. It never contains the
 * content of a file, an input or an answer: no record has a field for it, every text is short, and records with other
 * fields are neither written nor read.
 */
import { capabilityNames, rights } from "../../shared/abi.ts";
import { errorCodes } from "../../shared/errors.ts";
import type { ErrorCode } from "../../shared/errors.ts";
import { auditLimits, callLimits, storeLimits, sharingLimits } from "../../shared/limits.ts";
import { errorCodeName } from "../../shared/manifest.ts";
import { originClasses, originLimits } from "../../shared/origin.ts";
import { accessLevels, accessSources, storeIdPattern } from "../../shared/shared-scope.ts";
import * as z from "../../shared/zod.ts";
import { labelNamePattern, labelValuePattern } from "../values/call-context.ts";
import { originTexts } from "../values/origin.ts";
import { peerPattern, refusalWordPattern } from "../values/refusal.ts";

const sha256 = z.string().check(z.regex(/^[0-9a-f]{64}$/));
const storeId = z.string().check(z.regex(storeIdPattern));
const count = z.int().check(z.nonnegative());
const durationMs = z.number().check(z.nonnegative());
/** A text that a grammar restricts or the host chooses. */
const label = z.string().check(z.maxLength(auditLimits.labelCharsMax));
/** Any text that a guest or a caller named. */
const named = z.string().check(z.maxLength(auditLimits.namedCharsMax));
const callId = z.string().check(z.minLength(1), z.maxLength(callLimits.callIdCharsMax));
const userId = z.nullable(z.string().check(z.maxLength(storeLimits.userIdBytesMax)));
const refusalWord = z.string().check(z.regex(refusalWordPattern), z.maxLength(auditLimits.labelCharsMax));
const path = z.string().check(z.maxLength(storeLimits.pathCharsMax));
const filesMax = z.maxLength(auditLimits.recordFilesMax);
const usesMax = z.maxLength(auditLimits.recordUsesMax);
/** How a call or an operation ended. */
const outcome = {
  /** An error code; `null` for success. */
  code: z.nullable(z.string().check(z.regex(errorCodeName))),
  /** The table code that a plugin's own code is a case of. Absent for all other codes. */
  of: z.optional(z.enum(errorCodes)),
};

/** A code is either in the table, or it is a plugin's own and `of` names a table code. */
const isNamed = z.refine<{ readonly code: string | null; readonly of?: ErrorCode | undefined }>(({ code, of }) => {
  const isOfTable = errorCodes.some((each) => each === code);
  return of === undefined ? code === null || isOfTable : code !== null && !isOfTable;
});

const plugin = z.strictObject({ name: label, version: label, sha256 });

/** Bytes are UTF-8, as on disk. */
const file = z.strictObject({ scope: label, path, bytes: count });

/** The fields that every record begins with. */
const chained = {
  /** From 0; one more than in the record before it, also across files of the log. */
  seq: count.check(z.maximum(auditLimits.seqMax)),
  /** When it was written: ISO 8601, UTC, milliseconds. From the machine's clock, not the runtime's `clock` option. */
  time: z.string().check(z.regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)),
  /** SHA-256 of the line before, without its line feed; 64 zeros in the first record. */
  prev: sha256,
};

/** How a record of this kind begins. */
const begin = <const Kind extends string>(kind: Kind) => ({ ...chained, kind: z.literal(kind) });

/** What records of other versions of memcell have, too. */
export const positionSchema = z.object({ seq: chained.seq, prev: chained.prev });

export type ChainPosition = z.infer<typeof positionSchema>;

/** The fields that identify a call in all of its records. */
const ofCall = {
  callId,
  /** `null` when the caller gave no valid one. */
  userId,
  /** `null` when the caller gave no valid tool name. */
  tool: z.nullable(label),
};

/** Where the history of files ends after the changes of a call or an operation. */
const historyEnd = z.strictObject({
  /** A shared store's id; `null` for the user's folder, or the mounted folder if the record says that there is one. */
  store: z.nullable(storeId),
  /** The number of the last version. */
  seq: count,
  /** SHA-256 of its line, which has the hash of the line before. */
  hash: sha256,
});

export type HistoryEnd = z.infer<typeof historyEnd>;

/** How many stores a call can change: each has its end in the record. */
export const changedStoresMax = 32;

const versioned = {
  /** Absent if nothing was committed. Who changes or removes versions later would have to change the log as well. */
  history: z.optional(z.array(historyEnd).check(z.minLength(1), z.maxLength(changedStoresMax))),
};

const labelName = z.string().check(z.regex(labelNamePattern), z.maxLength(callLimits.labelNameCharsMax));
const labelValue = z.string().check(z.regex(labelValuePattern), z.maxLength(callLimits.labelValueCharsMax));
const hasFewLabels = (labels: object): boolean => Object.keys(labels).length <= callLimits.labelsMax;
const text = ({ charsMax, pattern }: (typeof originTexts)[keyof typeof originTexts]) =>
  z.optional(z.string().check(z.regex(pattern), z.maxLength(charsMax)));
const originClass = z.enum(originClasses);
const origin = z.strictObject({
  /** `unstated` if the program has only said what the model was exposed to. */
  class: originClass,
  run: text(originTexts.run),
  turn: text(originTexts.turn),
  source: text(originTexts.source),
  /** What has entered the model's context in this turn; absent if the program has not said. */
  exposedTo: z.optional(z.array(originClass).check(z.minLength(1), z.maxLength(originLimits.exposedToMax))),
});

/** What records say in the caller's own words: its labels, and the origin of the call. All of it is in clear text. */
const fromCaller = {
  /** The caller's labels, by name; absent when it gave none. */
  labels: z.optional(z.record(labelName, labelValue).check(z.refine(hasFewLabels))),
  /** What the caller has said about the call's origin; absent when it has said nothing. */
  origin: z.optional(origin),
};

/** `none`: the caller does not reach it, or it does not exist. */
const reachedStore = z.strictObject({
  store: storeId,
  access: z.enum([...accessSources, "none"]),
  level: z.nullable(z.enum(accessLevels)),
});

const grantChange = z.strictObject({
  store: storeId,
  grantee: storeId,
  /** `null`: revoked. */
  level: z.nullable(z.enum(accessLevels)),
  expiresMs: z.nullable(count),
});

/** The changes of a call, or those that are about to be committed. */
const changing = {
  ...ofCall,
  ...fromCaller,
  /** The scope was a mounted folder outside the data folder. The record does not say which folder. */
  mounted: z.optional(z.literal(true)),
  /** Whose access to a shared store is changed; absent if nobody's. */
  granted: z.optional(z.array(grantChange).check(z.maxLength(2 * sharingLimits.grantsMax))),
  writes: z.array(file).check(filesMax),
  /** Files moved; `trashed` is the path below `trash/`. */
  trashed: z.array(z.strictObject({ ...file.shape, trashed: path })).check(filesMax),
  /** Files removed permanently, which only the owner of the data can request. */
  removed: z.array(file).check(filesMax),
};

const erasing = {
  /**
   * A user was erased: how much there was in the user's scopes and own store. `scope` is `null` for what was in none, such
   * as the host's own files. Absent for every other operation.
   */
  erased: z.optional(z.array(z.strictObject({ scope: z.nullable(label), files: count, bytes: count })).check(usesMax)),
};

/** A runtime opened the log. */
const opened = z.strictObject({
  ...begin("opened"),
  memcell: label,
  plugins: z.array(plugin).check(z.maxLength(auditLimits.recordPluginsMax)),
  /** SHA-256 of the policy that was applied to these plugins. */
  policy: sha256,
  /** Bytes of an unfinished record at the end of the file; they were cut off. */
  tornBytes: count,
  /** How many records are missing between the last one found and the one that the log's head names. */
  missing: count,
  /**
   * What the head, a file beside the log, said about the log's end.
   *
   * - `new`: neither a log nor a head existed
   * - `agrees`: it named the last record, the one before it, or a later one (then `missing` says how many are missing)
   * - `behind`: it named an earlier record, which exists: the machine stopped, or records were added
   * - `differs`: the record that it named has another hash, or was not found
   * - `lost`: it was missing or unreadable, but the log had records
   */
  head: z.enum(["new", "agrees", "behind", "differs", "lost"]),
});

/** Changes that are about to be committed. The operating system has the record before the first file changes. */
const staged = z.strictObject({ ...begin("staged"), ...changing, ...erasing });

/** A capability use that was denied or failed. */
const use = z.strictObject({
  ...begin("use"),
  ...ofCall,
  capability: z.enum(capabilityNames),
  /** The guest's text, at most 128 characters of each; `null` if it gave none. */
  scope: z.nullable(named),
  path: z.nullable(named),
  code: z.enum(errorCodes),
});

/** A call ended. */
const call = z
  .strictObject({
    ...begin("call"),
    ...changing,
    /** `null` when the call reached no plugin. */
    plugin: z.nullable(plugin),
    scopes: z.array(label).check(usesMax),
    rights: z.array(z.enum(rights)).check(z.maxLength(rights.length)),
    /** Files that were read; `bytes` is `null` if the file did not exist. */
    reads: z.array(z.strictObject({ ...file.shape, bytes: z.nullable(count) })).check(usesMax),
    lists: z.array(z.strictObject({ scope: label, prefix: path, files: count })).check(usesMax),
    /** The shared stores about which the host has decided, and why; absent for a tool that reaches none. */
    stores: z.optional(z.array(reachedStore).check(z.maxLength(sharingLimits.runsMax * sharingLimits.storesMax))),
    ...versioned,
    /** How many uses did not fit into the record. */
    usesNotShown: count,
    usesDenied: count,
    usesFailed: count,
    /** `none`: the guest staged no change. */
    changes: z.enum(["none", "committed", "dropped"]),
    ...outcome,
    /** Polls of the guest's engine; `null` when it did not run, was stopped with its thread, or counts none. */
    fuelPolls: z.nullable(count),
    /** From the call to its result, in milliseconds. */
    durationMs,
  })
  .check(isNamed);

/** The owner of the data, not a tool, read or changed a user's files. */
const upkeep = z
  .strictObject({
    ...begin("upkeep"),
    /** The same as in its `staged` records, and in the records of the calls it made. */
    callId,
    action: label,
    userId,
    ...fromCaller,
    removed: z.array(file).check(filesMax),
    /** How many more were removed, if that was more than a record holds. The `staged` records name all. */
    removedHidden: z.optional(count),
    ...erasing,
    ...versioned,
    ...outcome,
    durationMs,
  })
  .check(isNamed);

/** Requests that were refused before a tool was called: one request, or a number of the same kind. */
const refused = z.strictObject({
  ...begin("refused"),
  surface: refusalWord,
  reason: refusalWord,
  /** The verified user; `null` when no identity was verified, and in a record of several requests. */
  userId,
  /** The request's address; `null` when it is unknown, and in a record of several requests. */
  peer: z.nullable(z.string().check(z.regex(peerPattern), z.maxLength(auditLimits.peerCharsMax))),
  /** 1; more when requests came too fast for a record each. */
  times: z.int().check(z.minimum(1)),
});

/** Records that could not be written while calls continued. */
const lost = z.strictObject({ ...begin("lost"), records: count });

/** The runtime closed the log. */
const closed = z.strictObject({ ...begin("closed") });

const all = [opened, staged, use, call, upkeep, refused, lost, closed] as const;

export const auditRecordSchema = z.discriminatedUnion("kind", all);

export type AuditRecord = z.infer<typeof auditRecordSchema>;

export type RecordOf<Kind> = Extract<AuditRecord, { kind: Kind }>;

type WithoutChain<Record> = Record extends unknown ? Omit<Record, keyof typeof chained> : never;

/** A record without its place in the chain, which the log adds. */
export type AuditEntry = WithoutChain<AuditRecord>;

type EntryOf<Kind> = Extract<AuditEntry, { kind: Kind }>;

export type StagedEntry = EntryOf<"staged">;
export type UseEntry = EntryOf<"use">;
export type CallEntry = EntryOf<"call">;
export type RefusedEntry = EntryOf<"refused">;
export type UpkeepEntry = EntryOf<"upkeep">;
export type PluginIdentity = z.infer<typeof plugin>;

/**
 * A version, and its line of JSON in a history. Each line has the hash of the line before, so that no line can be changed
 * unnoticed.
 */
import { hash } from "node:crypto";

import { originClasses } from "../../../shared/origin.ts";
import type { OriginClass } from "../../../shared/origin.ts";
import { isScopePath, scopeName } from "../../../shared/path.ts";
import * as z from "../../../shared/zod.ts";
import { firstBrokenLink, noHash } from "../../log-file/chain.ts";
import type { ChainHead, Link, NoLink } from "../../log-file/chain.ts";
import type { Pieces } from "../../values/turns.ts";
import { parseJson } from "../reading.ts";

/** How a version came about, if not by a call or an operation that wrote it. */
export const versionKinds = [
  /** Somebody has changed the files without the host; found when a later change met them. */
  "edited",
  /** The same, and the content is that of an earlier version. */
  "put back",
  /** The owner has approved what a call wanted to write. */
  "approved",
  /** The same, with a text of the owner's own instead of the call's. */
  "corrected",
  /** From files outside the store, of which nobody can say where they were before. */
  "imported",
  /** Removed from the trash for good. Its contents are not kept. */
  "purged",
  /** The owner has put the content of an earlier version back. */
  "restored",
  /** The owner has taken changes back: each file is as it was before them. */
  "undone",
  /** No change: the run has read what is trusted less, and is trusted less from then on. It has no files. */
  "lowered",
] as const;

export type VersionKind = (typeof versionKinds)[number];

/** Whether the owner vouches for the contents of such a version. */
export const isOfOwner = (kind: VersionKind | undefined): boolean => kind === "approved" || kind === "corrected";

/** Whether the contents of such a version are those of earlier ones, at the owner's word. */
export const isOfEarlier = (kind: VersionKind | undefined): boolean => kind === "restored" || kind === "undone";

const text = z.nullable(z.string().check(z.maxLength(1_024)));
const path = z.string().check(z.refine((each) => isScopePath(each)));
export const sha256Schema = z.string().check(z.regex(/^[0-9a-f]{64}$/));
export const originClassSchema = z.enum(originClasses);

const fileSchema = z.strictObject({
  scope: z.string().check(z.regex(scopeName)),
  path,
  /** SHA-256 of the content before, in hex; `null` if there was no file. */
  before: z.nullable(sha256Schema),
  /** SHA-256 of the new content; `null` if the file was removed or moved away. */
  sha256: z.nullable(sha256Schema),
  /** Where in the scope the content was moved from; absent if it was not moved. */
  from: z.optional(path),
  /** Never higher than that of the file before, unless the owner has approved the content. */
  trust: originClassSchema,
});

/** As strict as a guest's request: people and other programs can write to the disk. */
const lineSchema = z.strictObject({
  seq: z.int().check(z.minimum(1)),
  at: z.string().check(z.regex(/^[+-]?\d{4,6}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)),
  kind: z.optional(z.enum(versionKinds)),
  /** The tool, or the operation of the data's owner; `null` for an edit by hand. */
  tool: text,
  /** The plugin's name; `null` if no plugin has made it. */
  plugin: text,
  /** The user whose call it is. In another's store, too, that is the caller. */
  principal: text,
  /** What the program said of the call. */
  class: originClassSchema,
  /** The lowest of its class, and of everything that its run has seen. */
  trust: originClassSchema,
  run: text,
  turn: text,
  source: text,
  callId: text,
  /** The id under which it has waited for its owner's approval; absent if it has not. */
  approval: z.optional(z.string().check(z.maxLength(128))),
  /** The hash of the version before. */
  prev: sha256Schema,
  files: z.array(fileSchema),
});

/** What one version did to one file. */
export type VersionedFile = Readonly<z.infer<typeof fileSchema>>;

/** One change set in the history of a home: all files that it has changed; or that a run is trusted less. */
export interface Version extends Readonly<Omit<z.infer<typeof lineSchema>, "at" | "files">> {
  /** Milliseconds since 1970-01-01 UTC, on the runtime's clock. */
  readonly atMs: number;
  readonly files: readonly VersionedFile[];
}

/** Who makes a change set, and where its texts come from. The same for all of its files. */
export type WriteFacts = Omit<Version, "seq" | "kind" | "prev" | "files">;

/** The facts of a change of which nobody has told anything. */
export const unstatedFacts = (atMs: number): WriteFacts => ({
  atMs,
  tool: null,
  plugin: null,
  principal: null,
  class: "unstated",
  trust: "unstated",
  run: null,
  turn: null,
  source: null,
  callId: null,
});

/** Where the history of a home ends. */
export type VersionHead = ChainHead;

/** Before the first version. */
export const noVersion: VersionHead = { seq: 0, hash: noHash };

export const isSameHead = (a: VersionHead, b: VersionHead): boolean => a.seq === b.seq && a.hash === b.hash;

/** Of what is lost, nobody can say where it came from. */
export const lostTrust = "untrusted_document" satisfies OriginClass;

/** A version with its line, and where the history ends after it. */
export interface PlannedVersion {
  readonly version: Version;
  readonly line: string;
  readonly head: VersionHead;
}

/** Without a line feed. */
export function lineOf(version: Version): string {
  const { seq, atMs, kind, tool, plugin, principal, trust, run, turn, source, callId, approval, prev, files } = version;
  const at = new Date(atMs).toISOString();
  const ofCall = { tool, plugin, principal, class: version.class, trust, run, turn, source, callId, approval };
  return JSON.stringify({ seq, at, kind, ...ofCall, prev, files });
}

export const headAfter = ({ seq }: Pick<Version, "seq">, line: string): VersionHead => ({
  seq,
  hash: hash("sha256", line),
});

/**
 * The lines that were read last, which many operations read again: of 1,000 versions, to check them takes 25 ms. A line is
 * what it says, so none of them is ever outdated. A long line is read each time.
 */
const lastRead = new Map<string, PlannedVersion | null>();
const keptMax = { lines: 16_384, chars: 1_024 } as const;

/** After an erasure: the lines name files and runs. */
export const forgetLines = (): void => lastRead.clear();

/** The version in a line; `null` if the text is not a version's line. */
export function readLine(line: string): PlannedVersion | null {
  const known = lastRead.get(line);
  if (known !== undefined) return known;
  // A copy: a part of a text keeps the whole text in memory.
  const own = Buffer.from(line).toString();
  const version = parsedLine(own);
  const read = version && { version, line: own, head: headAfter(version, own) };
  if (read !== null)
    for (const each of [read, read.version, read.version.files, ...read.version.files]) Object.freeze(each);
  if (line.length > keptMax.chars) return read;
  // All at once: whoever reads a longer history finds none of them again in any case.
  if (lastRead.size >= keptMax.lines) lastRead.clear();
  lastRead.set(own, read);
  return read;
}

export const parseLine = (line: string): Version | null => readLine(line)?.version ?? null;

function parsedLine(line: string): Version | null {
  const parsed = z.safeParse(lineSchema, parseJson(line));
  if (!parsed.success) return null;
  const { at, ...version } = parsed.data;
  const isLowering = version.kind === "lowered" && version.run !== null;
  const atMs = Date.parse(at);
  return Number.isNaN(atMs) || isLowering !== (version.files.length === 0) ? null : { ...version, atMs };
}

/**
 * What is wrong in a history, whose lines are compared each with the one before; `null` if nothing is. `head`: its recorded
 * end. `first`: its oldest version, by default the first line's; what was dropped before it is not missed.
 */
export function* faultInHistory(
  lines: Iterable<string>,
  head: VersionHead | null,
  first: number | null = null,
): Pieces<string | null> {
  let last = noVersion;
  function* links(): Generator<Link<null> | NoLink<null>> {
    for (const line of lines) {
      const read = readLine(line);
      last = read?.head ?? last;
      yield read === null
        ? { reason: `the line after version ${last.seq} is no version`, seq: null, where: null }
        : { ...read.head, prev: read.version.prev, where: null };
    }
  }
  const broken = yield* firstBrokenLink(links(), { first: 1, from: first, noun: "version" });
  if (broken !== null) return broken.text;
  return head === null || isSameHead(head, last) ? null : `version ${head.seq} is not the recorded one`;
}

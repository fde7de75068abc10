import type { ChainHead } from "../audit-log.ts";
import type { HeadText } from "../log/head-file.ts";
import type { FoundRecord } from "./chain-findings.ts";
import type { Chain } from "./chain.ts";
import type { FindingList } from "./finding-list.ts";
import type { FindingKind, LogFinding } from "./log-verification.ts";

/** What is said of the log's end, beside the log. */
export interface EndWitnesses {
  /** Part of the log is elsewhere, and its head may be too. */
  readonly isPartial: boolean;
  /** What the head said before the log was read; `null` when there was none. */
  readonly head: HeadText | null;
  /** The same when all was read. */
  readonly headNow: HeadText | null;
  /** A record's number and hash that somebody has noted elsewhere. */
  readonly noted: ChainHead | null;
}

/** Compares where the chain leads with what others say of it. Returns whether anything but the log says where it ends. */
export function checkEnd(chain: Chain, findings: FindingList, witnesses: EndWitnesses): boolean {
  const { isPartial, head, headNow, noted } = witnesses;
  const { last } = chain;
  if (noted !== null) compare(chain, findings, noted, "the place that was noted");
  if (head === "unreadable") findings.add(found("head", last, "the log's head cannot be read"));
  if (head === null && noted === null && !isPartial) {
    findings.add(found("head", last, "no head lies beside the log: records at its end may be missing"));
  }
  if (head === null || head === "unreadable") return noted !== null;
  if (head !== "empty") compare(chain, findings, head, "the log's head");
  if (last && headNow !== null && headNow !== "unreadable") {
    checkBehind(last, headNow === "empty" ? -1 : headNow.seq, findings);
  }
  return true;
}

/** Numbers of the records that others name. */
export function namedBy(witnesses: readonly (HeadText | null)[]): number[] {
  return witnesses.flatMap((each) => (each !== null && typeof each === "object" ? [each.seq] : []));
}

function compare(chain: Chain, findings: FindingList, { seq, hash }: ChainHead, who: string): void {
  const { first, last } = chain;
  if (last === null || seq > last.seq) {
    const where = last === null ? "the log is empty" : `the log ends with record ${last.seq}`;
    const text = `${where}, and ${who} is record ${seq}: records were removed from the end`;
    findings.add(found("removed", last, text));
  } else if (first && seq < first.seq) {
    const text = `the log begins with record ${first.seq}, and ${who} is record ${seq}: it cannot be compared`;
    findings.add(found("head", first, text));
  } else if (chain.hashOf(seq) === undefined) {
    findings.add({ ...found("removed", null, `record ${seq} is not there, and ${who} names it`), seq });
  } else if (chain.hashOf(seq) !== hash) {
    const text = `record ${seq} is not as it was written: the hash that ${who} carries is another`;
    findings.add({ ...found("altered", null, text), seq });
  }
}

/** A runtime writes the record first and the head right behind it. */
function checkBehind(last: FoundRecord, headSeq: number, findings: FindingList): void {
  const behind = last.seq - headSeq;
  if (behind === 1) {
    findings.note(`record ${last.seq} stands behind the log's head: it was written last, before a kill, or added`);
  } else if (behind > 1) {
    const text = `the last ${behind} records stand behind the log's head: the machine has stopped, or they were added`;
    findings.add(found("head", last, text));
  }
}

function found(kind: FindingKind, at: FoundRecord | null, text: string): LogFinding {
  return { kind, seq: at?.seq ?? null, file: at?.file ?? null, line: at?.line ?? null, text };
}

import { safeParse } from "../../../shared/zod.ts";
import type { ChainHead } from "../audit-log.ts";
import { auditRecordSchema } from "../audit-record.ts";
import type { AuditRecord } from "../audit-record.ts";
import { LogFiles } from "../log/log-files.ts";
import { readLines } from "../log/read-lines.ts";
import type { LogLine } from "../log/read-lines.ts";
import { parseLine, placeOf, recordBytesMin } from "../log/read-place.ts";
import { ChainFollower } from "./chain-follower.ts";
import { FindingList } from "./finding-list.ts";
import { LogEndCheck } from "./log-end-check.ts";
import type { LogVerification } from "./log-verification.ts";
import { noteRecord } from "./note-record.ts";

export interface VerifyOptions {
  /** Whether the log may begin later than with record 0, and end earlier than anybody says: part of it is elsewhere. */
  readonly isPartial?: boolean;
  /** A place of the chain that was noted earlier, where nobody can write to who can write to the log. */
  readonly noted?: ChainHead;
  /** Receives every record, in the order of the log, also of a log with findings. */
  readonly onRecord?: (record: AuditRecord) => void;
}

/**
 * Reads an audit log, of whatever size, and finds every record that was removed, altered, added, repeated or moved. Beside
 * a file that is named it finds its head and the files that were full before it. It may be written to meanwhile.
 *
 * Who can write to the log and to its head can write both anew, from any record on; only a place that was noted elsewhere
 * shows that (`noted`).
 *
 * Throws `STORAGE_FAILED` or `STORAGE_UNSAFE` when a file cannot be read.
 *
 * @example
 * const { isIntact, head } = verifyLog(["log/audit.jsonl"]);
 */
export function verifyLog(paths: readonly string[], options: VerifyOptions = {}): LogVerification {
  using files = new LogFiles(paths);
  const reading = new LogReading(files, options);
  for (const part of files.parts) {
    using file = part.open();
    reading.readPart(part.name, readLines(file));
  }
  return reading.end();
}

class LogReading {
  readonly #files: LogFiles;
  readonly #onRecord: (record: AuditRecord) => void;
  readonly #findings = new FindingList();
  readonly #chain: ChainFollower;
  readonly #end: LogEndCheck;
  #records = 0;
  #bytes = 0;
  #firstSeq: number | null = null;

  constructor(files: LogFiles, { isPartial = false, noted, onRecord = () => {} }: VerifyOptions) {
    this.#files = files;
    this.#onRecord = onRecord;
    this.#end = new LogEndCheck(this.#findings, { isPartial, head: files.head, noted: noted ?? null });
    this.#chain = new ChainFollower(this.#findings, { isPartial, onFollowed: (record) => this.#end.follow(record) });
  }

  readPart(file: string, lines: Iterable<LogLine>): void {
    for (const line of lines) {
      this.#bytes += line.length + (line.isTorn ? 0 : 1);
      this.#readLine(file, line);
    }
  }

  end(): LogVerification {
    const { last } = this.#chain;
    const isEndKnown = this.#end.check(last, this.#files.headNow());
    return {
      ...this.#findings.result(),
      files: this.#files.parts.length,
      records: this.#records,
      bytes: this.#bytes,
      firstSeq: this.#firstSeq,
      head: last && { seq: last.seq, hash: last.hash },
      isEndKnown,
    };
  }

  #readLine(file: string, line: LogLine): void {
    const { number, bytes, hash, length } = line;
    if (line.isTorn) return this.#torn(file, line);
    if (bytes === null) return this.#unreadable(file, number, `it is ${length} bytes long`);
    if (length === 0) return this.#unreadable(file, number, "it is empty");
    if (length < recordBytesMin) return this.#unreadable(file, number, "it is too short to be one");
    const json = parseLine(bytes);
    if (json === undefined) return this.#unreadable(file, number, "it is not JSON");
    const place = placeOf(json);
    if (place === null) return this.#unreadable(file, number, "it has no place in the chain");
    const parsed = safeParse(auditRecordSchema, json);
    const missing = parsed.success && parsed.data.kind === "opened" ? parsed.data.missing : 0;
    this.#firstSeq ??= place.seq;
    this.#records++;
    this.#chain.take({ ...place, hash: hash(), file, line: number, missing });
    if (parsed.success) {
      noteRecord(parsed.data, { file, line: number }, this.#findings);
      this.#onRecord(parsed.data);
    } else {
      const text = `record ${place.seq} has not the form of a record: it was altered, or another version wrote it`;
      this.#findings.add({ kind: "unreadable", seq: place.seq, file, line: number, text });
    }
  }

  #unreadable(file: string, line: number, reason: string): void {
    this.#chain.skipLine();
    this.#findings.add({ kind: "unreadable", seq: null, file, line, text: `this line is no record: ${reason}` });
  }

  #torn(file: string, { number, length }: LogLine): void {
    const text = `at the end are ${length} bytes of a record: it was cut, not finished, or is just being written`;
    this.#findings.add({ kind: "torn", seq: null, file, line: number, text });
  }
}

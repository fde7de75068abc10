import type { ChainHead } from "../audit-log.ts";
import type { HeadText } from "../log/head-file.ts";
import type { FindingList } from "./finding-list.ts";
import type { FoundRecord } from "./found-record.ts";
import type { FindingKind } from "./log-verification.ts";

export interface EndCheckOptions {
  readonly isPartial: boolean;
  /** What the head said before the log was read; `null` when there was none. */
  readonly head: HeadText | null;
  readonly noted: ChainHead | null;
}

/** Compares where the chain leads with what others say of it: its head, and a place that was noted elsewhere. */
export class LogEndCheck {
  readonly #findings: FindingList;
  readonly #options: EndCheckOptions;
  /** The hashes of the records that others name, where they stand in the chain. */
  readonly #found = new Map<number, string | null>();
  #first: FoundRecord | null = null;

  constructor(findings: FindingList, options: EndCheckOptions) {
    this.#findings = findings;
    this.#options = options;
    for (const place of [options.head, options.noted]) {
      if (place !== null && typeof place === "object") this.#found.set(place.seq, null);
    }
  }

  follow(record: FoundRecord): void {
    this.#first ??= record;
    if (this.#found.has(record.seq)) this.#found.set(record.seq, record.hash);
  }

  /** Tells whether anything says where the log ends. `headNow` is what the head says after all was read. */
  check(last: FoundRecord | null, headNow: HeadText | null): boolean {
    const { noted, head, isPartial } = this.#options;
    if (noted !== null) this.#checkPlace(noted, last, "the place that was noted");
    if (head === "unreadable") this.#find("head", last, "the log's head cannot be read");
    if (head === null || head === "unreadable") {
      if (head === null && noted === null && !isPartial) {
        this.#find("head", last, "no head lies beside the log: records at its end may be missing");
      }
      return noted !== null;
    }
    if (head !== "empty") this.#checkPlace(head, last, "the log's head");
    this.#checkBehind(last, headNow);
    return true;
  }

  #checkPlace(place: ChainHead, last: FoundRecord | null, who: string): void {
    const { seq } = place;
    if (last === null || seq > last.seq) {
      const where = last === null ? "the log is empty" : `the log ends with record ${last.seq}`;
      return this.#find("removed", last, `${where}, and ${who} is record ${seq}: records were removed from the end`);
    }
    if (this.#first && seq < this.#first.seq) {
      const text = `the log begins with record ${this.#first.seq}, and ${who} is record ${seq}: it cannot be compared`;
      return this.#find("head", this.#first, text);
    }
    const hash = this.#found.get(seq);
    if (hash === place.hash) return;
    const text =
      hash === null
        ? `record ${seq} is not there, and ${who} names it`
        : `record ${seq} is not as it was written: the hash that ${who} carries is another`;
    this.#findings.add({ kind: hash === null ? "removed" : "altered", seq, file: null, line: null, text });
  }

  /** A runtime writes the record first and the head right behind it. */
  #checkBehind(last: FoundRecord | null, headNow: HeadText | null): void {
    if (last === null || headNow === null || headNow === "unreadable") return;
    const behind = last.seq - (headNow === "empty" ? -1 : headNow.seq);
    if (behind === 1) {
      this.#findings.note(
        `record ${last.seq} stands behind the log's head: it was written last, before a kill, or added`,
      );
    }
    if (behind <= 1) return;
    const text = `the last ${behind} records stand behind the log's head: the machine has stopped, or they were added`;
    this.#find("head", last, text);
  }

  #find(kind: FindingKind, at: FoundRecord | null, text: string): void {
    this.#findings.add({ kind, seq: at?.seq ?? null, file: at?.file ?? null, line: at?.line ?? null, text });
  }
}

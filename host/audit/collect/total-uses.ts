import { auditLimits } from "../../../shared/limits.ts";
import type { CallEntry } from "../audit-record.ts";
import type { Uses } from "./read-trail.ts";

/**
 * What the guests of a call have done. There are several when a person has edited the files meanwhile: what any of them
 * has read was read, and only what the last has staged can be committed.
 */
export class TotalUses {
  readonly #reads = new Map<string, CallEntry["reads"][number]>();
  readonly #lists = new Map<string, CallEntry["lists"][number]>();
  writes: CallEntry["writes"] = [];
  trashed: CallEntry["trashed"] = [];
  changesNotShown = 0;
  /** Of all but staged changes. */
  notShown = 0;
  denied = 0;
  failed = 0;

  add(uses: Uses): void {
    for (const read of uses.reads) this.#keep(this.#reads, `${read.scope}:${read.path}`, read);
    for (const list of uses.lists) this.#keep(this.#lists, `${list.scope}:${list.prefix}`, list);
    this.writes = uses.writes;
    this.trashed = uses.trashed;
    this.changesNotShown = uses.changesNotShown;
    this.denied += uses.denied;
    this.failed += uses.failed;
    this.notShown += uses.looksNotShown + uses.denied + uses.failed - uses.refusals.length;
  }

  get reads(): CallEntry["reads"] {
    return [...this.#reads.values()];
  }

  get lists(): CallEntry["lists"] {
    return [...this.#lists.values()];
  }

  #keep<Use>(kept: Map<string, Use>, key: string, use: Use): void {
    if (kept.has(key) || kept.size < auditLimits.recordUsesMax) kept.set(key, use);
    else this.notShown++;
  }
}

import { pageLimits } from "../../../shared/limits.ts";
import type { ListedCall } from "../../audit/verify/summarise-log.ts";
import type { Markup } from "../../markup/markup.ts";

type Name = string | null;

/** A choice. The rows that it leaves have its class. */
export interface FacetOption {
  readonly className: string;
  /** Data, or words of ours. */
  readonly label: string | Markup;
}

/**
 * The names that calls have in one field, each with a class, in the order of the alphabet. If there are too many, those
 * of most failed calls, then of most calls are kept. The others share a class.
 */
export class NamedValues {
  /** How many names have no class of their own. */
  readonly othersCount: number;
  readonly #prefix: string;
  readonly #nameOf: (call: ListedCall) => Name;
  readonly #numbers: ReadonlyMap<Name, number>;

  constructor(prefix: string, calls: readonly ListedCall[], nameOf: (call: ListedCall) => Name) {
    const weights = new Map<Name, number>();
    for (const call of calls) {
      const name = nameOf(call);
      weights.set(name, (weights.get(name) ?? 0) + (call.code !== null || call.denials > 0 ? calls.length : 1));
    }
    const kept = [...weights].toSorted(([, a], [, b]) => b - a).slice(0, pageLimits.filterOptionsMax);
    const inOrder = kept.map(([name]) => name).toSorted((a, b) => ((a ?? "") < (b ?? "") ? -1 : 1));
    this.othersCount = weights.size - kept.length;
    this.#prefix = prefix;
    this.#nameOf = nameOf;
    this.#numbers = new Map(inOrder.map((name, at) => [name, at]));
  }

  classOf(call: ListedCall): string {
    return `${this.#prefix}${this.#numbers.get(this.#nameOf(call)) ?? "x"}`;
  }

  /** `nameless` is the label of `null`, `others` that of the names without a class of their own. */
  options(nameless: Markup, others: Markup): FacetOption[] {
    const options = Array.from(this.#numbers, ([name, at]) => ({
      className: `${this.#prefix}${at}`,
      label: name ?? nameless,
    }));
    return this.othersCount === 0 ? options : [...options, { className: `${this.#prefix}x`, label: others }];
  }
}

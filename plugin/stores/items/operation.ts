/** The operations of a batch, and the check of them. */
import type { ItemId } from "../item-path.ts";
import { namespaceOf } from "../item-path.ts";
import { entryLimits } from "../store-limits.ts";
import { checkFilter, isObject, wrong } from "./item-filter.ts";
import type { ItemFilter } from "./item-filter.ts";

export interface ItemSearch {
  readonly op: "search";
  /** In and below this namespace; empty: in all. */
  readonly namespace: string;
  readonly filter: ItemFilter | null;
  readonly query: string | null;
  readonly limit: number;
  readonly offset: number;
  /** Where an earlier answer ended. */
  readonly after: string;
}

export interface NamespaceList {
  readonly op: "namespaces";
  readonly begins: readonly string[];
  readonly ends: readonly string[];
  readonly depth: number;
  readonly limit: number;
  readonly offset: number;
}

export type Read = (ItemId & { readonly op: "get" }) | ItemSearch | NamespaceList;

export type Change = (ItemId & { readonly op: "put"; readonly value: unknown }) | (ItemId & { readonly op: "delete" });

export type Operation = Read | Change;

const fields = {
  get: ["namespace", "key"],
  put: ["namespace", "key", "value"],
  delete: ["namespace", "key"],
  search: ["namespace", "filter", "query", "limit", "offset", "after"],
  namespaces: ["begins", "ends", "depth", "limit", "offset"],
} as const satisfies Record<Operation["op"], readonly string[]>;

export const isChange = (operation: Operation): operation is Change =>
  operation.op === "put" || operation.op === "delete";

/** Throws `INPUT_INVALID`, which names the field. */
export function checkOperations(given: readonly unknown[]): Operation[] {
  const { operationsMax } = entryLimits;
  if (given.length > operationsMax)
    throw wrong("operations", `a list of ${given.length}`, `a list of at most ${operationsMax}`);
  return given.map((each, at) => checkOperation(each, `operations[${at}]`));
}

function checkOperation(given: unknown, field: string): Operation {
  if (!isObject(given)) throw wrong(field, given, "an object");
  const { op } = given;
  if (typeof op !== "string" || !Object.hasOwn(fields, op))
    throw wrong(`${field}.op`, op, Object.keys(fields).join(", "));
  const known: readonly string[] = fields[op as Operation["op"]];
  const odd = Object.keys(given).find((name) => name !== "op" && !known.includes(name));
  if (odd !== undefined) throw wrong(field, odd, `no other fields than op, ${known.join(", ")}`);
  const at = new Fields(given, field);
  switch (op as Operation["op"]) {
    case "get":
      return { op: "get", ...at.id() };
    case "delete":
      return { op: "delete", ...at.id() };
    case "put":
      if (given["value"] === undefined) throw wrong(`${field}.value`, undefined, "any JSON value");
      return { op: "put", ...at.id(), value: given["value"] };
    case "search":
      return {
        op: "search",
        namespace: namespaceOf(at.labels("namespace", 0)),
        filter: given["filter"] === undefined ? null : checkFilter(given["filter"], `${field}.filter`),
        query: at.query(),
        limit: at.count("limit", 10),
        offset: at.count("offset", 0),
        after: at.text("after", ""),
      };
    case "namespaces":
      return {
        op: "namespaces",
        begins: at.labels("begins", 0),
        ends: at.labels("ends", 0),
        depth: at.count("depth", entryLimits.labelsMax),
        limit: at.count("limit", 100),
        offset: at.count("offset", 0),
      };
  }
}

class Fields {
  readonly #given: Readonly<Record<string, unknown>>;
  readonly #field: string;

  constructor(given: Readonly<Record<string, unknown>>, field: string) {
    this.#given = given;
    this.#field = field;
  }

  id(): ItemId {
    const { itemKeyCharsMax } = entryLimits;
    const key = this.text("key", "");
    if (key === "" || key.length > itemKeyCharsMax || !key.isWellFormed())
      throw this.#wrong("key", `a text of 1 to ${itemKeyCharsMax} characters`);
    return { namespace: namespaceOf(this.labels("namespace", 1)), key: key.normalize("NFC") };
  }

  labels(name: string, fewest: number): string[] {
    const { labelsMax, labelCharsMax } = entryLimits;
    const { [name]: labels = [] } = this.#given;
    const isLabel = (label: unknown): label is string =>
      typeof label === "string" && label !== "" && label.length <= labelCharsMax && label.isWellFormed();
    if (Array.isArray(labels) && labels.length >= fewest && labels.length <= labelsMax && labels.every(isLabel))
      return labels.map((label) => label.normalize("NFC"));
    throw this.#wrong(
      name,
      `a list of ${fewest} to ${labelsMax} labels, each a text of 1 to ${labelCharsMax} characters`,
    );
  }

  query(): string | null {
    const query = this.text("query", "");
    if (query.length > entryLimits.queryCharsMax)
      throw this.#wrong("query", `at most ${entryLimits.queryCharsMax} characters`);
    return query.trim() === "" ? null : query;
  }

  text(name: string, none: string): string {
    const { [name]: text = none } = this.#given;
    if (typeof text !== "string") throw this.#wrong(name, "a text");
    return text;
  }

  count(name: string, none: number): number {
    const { [name]: count = none } = this.#given;
    if (!Number.isSafeInteger(count) || (count as number) < 0) throw this.#wrong(name, "a whole number from 0");
    return count as number;
  }

  #wrong(name: string, expected: string): Error {
    return wrong(`${this.#field}.${name}`, this.#given[name], expected);
  }
}

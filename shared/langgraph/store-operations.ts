/** LangGraph's operations as those of the tool `stores/StoreBatch`, and back. */
import { valueDepthMax } from "../data-depth.ts";
import { givenForm, storedForm } from "../run-history/stored-form.ts";
import type { Item, Operation, SearchItem } from "./langgraph.ts";

/** An operation of the tool. Its schema checks the fields, so they are passed on as they are. */
export type StoreOperation = Readonly<Record<string, unknown>> & {
  readonly op: "get" | "put" | "delete" | "search" | "namespaces";
};

/** What the tool answers to one operation. */
export interface StoreResult {
  readonly item?: StoredItem | null;
  readonly items?: readonly StoredItem[];
  readonly namespaces?: readonly string[][];
  /** There is more: the operation goes on with these fields. */
  readonly next?: Readonly<Record<string, unknown>>;
  readonly left?: boolean;
  readonly unreadable?: string | number;
}

interface StoredItem {
  readonly namespace: string[];
  readonly key: string;
  readonly value: unknown;
  readonly created: string | null;
  readonly updated: string | null;
  readonly score?: number;
}

export const isChange = ({ op }: StoreOperation): boolean => op === "put" || op === "delete";

/** Throws for what the tool does not have, and for values that would come back as something else. */
export function storeOperation(operation: Operation): StoreOperation {
  if ("namespacePrefix" in operation) {
    const { namespacePrefix: namespace, filter, query, limit = 10, offset = 0 } = operation;
    const wanted = filter && { filter: filterForm(filter) };
    return { op: "search", namespace, limit, offset, ...wanted, ...(query && { query }) };
  }
  if ("key" in operation) {
    const { namespace, key } = operation;
    if (!("value" in operation)) return { op: "get", namespace, key };
    if (operation.value === null) return { op: "delete", namespace, key };
    return { op: "put", namespace, key, value: storedForm(operation.value, "value", bounds) };
  }
  return namespaceList(operation);
}

/** A condition that is lost would find everything. */
function filterForm(filter: object): unknown {
  const stored = storedForm(filter, "filter", bounds);
  JSON.stringify(filter, (name: string, value: unknown) => {
    if (value === undefined) throw notJson(`${name} in filter`, "JSON", value);
    return value;
  });
  return stored;
}

/** Says the type, without the value, which may be a secret. */
const notJson = (place: string, expected: string, value: unknown): Error =>
  refused(`${place} is ${typeof value === "number" ? value : `of the type ${typeOf(value)}`}; expected ${expected}`);

const bounds = { levelsMax: valueDepthMax, refuse: notJson };

const typeOf = (value: unknown): string => Object.prototype.toString.call(value).slice("[object ".length, -1);

const refused = (message: string): Error => new Error(message, { cause: { code: "INPUT_INVALID", message } });

/** A program that calls `batch` itself can leave out the page. */
function namespaceList(operation: Partial<NamespaceList>): StoreOperation {
  const { maxDepth: depth, limit = 100, offset = 0 } = operation;
  const [begins, ends] = [pathOf(operation, "prefix"), pathOf(operation, "suffix")];
  return { op: "namespaces", limit, offset, ...(begins && { begins }), ...(ends && { ends }), ...(depth && { depth }) };
}

type NamespaceList = Extract<Operation, { matchConditions?: unknown }>;

function pathOf(
  { matchConditions = [] }: Partial<NamespaceList>,
  type: "prefix" | "suffix",
): readonly string[] | undefined {
  const [first, ...others] = matchConditions.filter(({ matchType }) => matchType === type);
  if (others.length > 0) throw refused(`matchConditions has ${others.length + 1} of ${type}; expected at most one`);
  return first?.path;
}

/** What LangGraph gets for an operation whose parts are all there. Throws if the file of an item cannot be read. */
export function resultOf({ op }: StoreOperation, parts: readonly StoreResult[]): unknown {
  if (op === "search") return parts.flatMap(({ items = [] }) => items.map(searchItemOf));
  if (op === "namespaces") return parts.flatMap(({ namespaces = [] }) => namespaces);
  if (op !== "get") return undefined;
  const [{ item = null, unreadable } = {}] = parts;
  if (unreadable !== undefined) throw new Error(`The item cannot be read: ${unreadable}`);
  return item && itemOf(item);
}

/** A file that a person has written need not tell its times. */
const timeOf = (time: string | null): Date => new Date(time ?? 0);

const itemOf = ({ namespace, key, value, created, updated }: StoredItem): Item => ({
  namespace,
  key,
  value: givenForm(value) as Item["value"],
  createdAt: timeOf(created ?? updated),
  updatedAt: timeOf(updated ?? created),
});

const searchItemOf = ({ score, ...item }: StoredItem): SearchItem => ({
  ...itemOf(item),
  ...(score !== undefined && { score }),
});

/** What the events of a session amount to: each one changes the end of the list of items, or replaces all of it. */
import type { Event } from "../run-history/index.ts";
import { valueOf } from "../run-history/transcript.ts";

export interface SessionState {
  /** In their stored form. */
  items: unknown[];
  /** The transactions that have been applied: the SHA-256 of each by its id, the latest last. */
  operations: Map<string, string>;
}

/** Drops the newest items, then adds others. */
export interface SessionChange {
  readonly drop?: number;
  readonly add?: readonly unknown[];
  /** The transaction's id and its SHA-256. */
  readonly operation?: readonly [string, string];
}

/** A retry comes at once or after a restart, but not after a thousand other transactions. */
const operationsMax = 1_000;

/** `null` if an event is not one of a session: a person has edited it. */
export function readState(events: readonly Event[]): SessionState | null {
  let state: SessionState = { items: [], operations: new Map() };
  for (const event of events) {
    const value = valueOf(event);
    const snapshot = event.type === "snapshot" ? stateOf(value) : null;
    if (snapshot !== null) state = snapshot;
    else if (event.type === "opaque" && isChange(value)) change(state, value);
    else return null;
  }
  return state;
}

export function change({ items, operations }: SessionState, { drop = 0, add = [], operation }: SessionChange): void {
  items.length = Math.max(items.length - drop, 0);
  for (const each of add) items.push(each);
  if (operation) operations.set(...operation);
}

export const stateText = ({ items, operations }: SessionState): string =>
  JSON.stringify({ items, operations: [...operations].slice(-operationsMax) });

function stateOf(value: unknown): SessionState | null {
  const { items, operations } = Object(value) as Readonly<Record<string, unknown>>;
  if (!Array.isArray(items) || !Array.isArray(operations) || !operations.every(isPair)) return null;
  return { items, operations: new Map(operations) };
}

function isChange(value: unknown): value is SessionChange {
  const { drop = 0, add = [], operation } = Object(value) as Readonly<Record<string, unknown>>;
  return Number.isSafeInteger(drop) && Array.isArray(add) && (operation === undefined || isPair(operation));
}

const isPair = (value: unknown): value is [string, string] =>
  Array.isArray(value) && value.length === 2 && value.every((each) => typeof each === "string");

import type { StoredType } from "./event-types.ts";

/** Texts to find and filter something by, for example `{ severity: "warning" }`. */
export type Labels = Readonly<Record<string, string>>;

/** An event as the tools take, store and return it. */
export interface WireEvent {
  readonly type: StoredType;
  /** RFC 3339 in UTC, as `normalTimestamp` returns it. Empty, only in an append: the call's time. */
  readonly timestamp: string;
  /** JSON text of an object, so that every number keeps its digits. */
  readonly data: string;
  readonly labels: Labels;
}

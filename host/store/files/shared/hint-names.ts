/** The names of empty files that are hints: `<store>.<granted>.<expires>`, with times in milliseconds, and `<store>.left`. */
import { isStoreId } from "../../../values/store-id.ts";
import type { StoreId } from "../../../values/store-id.ts";
import { byAge } from "../../grant-hints.ts";
import type { GrantHint, GrantTimes } from "../../grant-hints.ts";

const leftSuffix = ".left";
const hintPattern = /^([^.]+)\.(\d{1,16})\.(never|\d{1,16})$/;

export const leftName = (store: StoreId): string => store + leftSuffix;

export const hintName = (store: StoreId, { grantedMs, expiresMs }: GrantTimes): string =>
  `${store}.${grantedMs}.${expiresMs ?? "never"}`;

/** Returns what a name says about a grant; `null` if it is another name. */
export function readHintName(name: string): (GrantTimes & { readonly store: StoreId }) | null {
  const [, store = "", granted, expires] = hintPattern.exec(name) ?? [];
  if (!isStoreId(store)) return null;
  return { store, grantedMs: Number(granted), expiresMs: expires === "never" ? null : Number(expires) };
}

/** Returns the store that a name is about; `null` if it is another name. */
export function storeIn(name: string): StoreId | null {
  const [store = ""] = name.split(".", 1);
  if (!isStoreId(store)) return null;
  return name === leftName(store) || readHintName(name) !== null ? store : null;
}

/** The stores that are left out. */
export const leftIn = (names: readonly string[]): StoreId[] =>
  names.flatMap((name) => {
    const store = storeIn(name);
    return store !== null && name === leftName(store) ? [store] : [];
  });

/** The names that are about grants up to a time, and those of stores that are left out and have granted nothing since. */
export function endedNames(names: readonly string[], untilMs: number): string[] {
  const hints = names.flatMap((name) => readHintName(name) ?? []);
  const later = new Set(hints.flatMap(({ store, grantedMs }) => (grantedMs > untilMs ? [store] : [])));
  return names.filter((name) => {
    const [store, hint] = [storeIn(name), readHintName(name)];
    return store !== null && (hint === null ? !later.has(store) : hint.grantedMs <= untilMs);
  });
}

/** The oldest grants first. Of several hints of one store, which a crash can leave, the one that ends last counts. */
export function readHintNames(names: readonly string[]): GrantHint[] {
  const present = new Set(names);
  const byStore = new Map<StoreId, GrantHint>();
  for (const name of names) {
    const hint = readHintName(name);
    if (hint === null || endOf(hint) < endOf(byStore.get(hint.store))) continue;
    byStore.set(hint.store, { ...hint, isLeft: present.has(leftName(hint.store)) });
  }
  return [...byStore.values()].toSorted(byAge);
}

const endOf = (times: GrantTimes | undefined): number => (times === undefined ? 0 : (times.expiresMs ?? Infinity));

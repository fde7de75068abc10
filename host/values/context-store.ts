import { unknownField } from "../../shared/known-fields.ts";
import type { FieldsOf } from "../../shared/known-fields.ts";
import { accessLevels, isStoreId } from "../../shared/shared-scope.ts";
import type { AccessLevel } from "../../shared/shared-scope.ts";
import { quoted } from "../../shared/text.ts";

/**
 * A shared store that the embedding program vouches for: the call's user is in the chat, or works for the user, whose
 * store it is. The user then reaches it during this call, without a grant.
 *
 * @example
 * const ctx = { userId: agentId, stores: [{ id: chatId, kind: "chat" }, { id: storeIdOf(caller), kind: "user" }] };
 */
export interface ContextStore {
  /** A UUID in lower case. */
  readonly id: string;
  readonly kind: "chat" | "user";
  /** Default: `readwrite`. */
  readonly level?: AccessLevel | undefined;
}

const storeFields: FieldsOf<ContextStore> = { id: true, kind: true, level: true };

/** More chats and users than one call has to do with. */
const storesMax = 64;

export const contextStoresAllowed =
  `at most ${storesMax} objects with an id (a UUID in lower case), a kind ("chat" or "user") and a level ` +
  '("search", "read" or "readwrite", or nothing), no id twice';

/** The stores of a context, copied; callers without types can pass anything. A text says what is wrong with them. */
export function readContextStores(asked: unknown): readonly ContextStore[] | string {
  if (asked === undefined) return [];
  try {
    return copyStores(asked);
  } catch {
    return "an object that cannot be read";
  }
}

function copyStores(asked: unknown): readonly ContextStore[] | string {
  if (!Array.isArray(asked)) return asked === null ? "null" : `of type ${typeof asked}`;
  if (asked.length > storesMax) return `an array of ${asked.length} stores`;
  const stores: ContextStore[] = [];
  for (const each of asked as readonly unknown[]) {
    const unknown = typeof each === "object" && each !== null ? unknownField(each, storeFields) : null;
    if (unknown !== null) return `an array with the field ${unknown.name} (did you mean ${unknown.nearest}?)`;
    const { id, kind, level = "readwrite" } = (each ?? {}) as Readonly<Record<string, unknown>>;
    if (typeof id !== "string" || !isStoreId(id)) return `an array with the id ${shown(id)}`;
    if (kind !== "chat" && kind !== "user") return `an array with the kind ${shown(kind)}`;
    const known = accessLevels.find((name) => name === level);
    if (known === undefined) return `an array with the level ${shown(level)}`;
    if (stores.some((other) => other.id === id)) return `an array with the id ${quoted(id)} twice`;
    stores.push({ id, kind, level: known });
  }
  return Object.freeze(stores);
}

const shown = (value: unknown): string => (typeof value === "string" ? quoted(value) : `of type ${typeof value}`);

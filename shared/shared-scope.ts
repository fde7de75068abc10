/**
 * Shared stores as a plugin sees them (ABI version 2). A store is a place of entries with a UUID. Its owner is the user
 * whose own store it is; others reach it by grants, or because the embedding program vouches for them.
 */

/**
 * What a caller may do with a store, each with what stands before it: `search` finds entries, `read` also lists and
 * reads them, `readwrite` also changes them.
 */
export const accessLevels = ["search", "read", "readwrite"] as const;
export type AccessLevel = (typeof accessLevels)[number];

/** Why a caller reaches a store: it owns it, was granted it, or is in a chat or works for a user whose store it is. */
export const accessSources = ["self", "grant", "chat", "user"] as const;
export type AccessSource = (typeof accessSources)[number];

/** In a manifest or a policy: any store that the caller reaches. A tool with it has no other scope. */
export const anyStore = "store:*";

/**
 * A user's own store, where the host lists it beside the user's scopes: in the trash, in an export. No plugin can have
 * a scope of this name.
 */
export const ownStoreName = "store";

/** The caller's own store, in a request. */
export const ownStoreScope = "store:self";

/** Before a store's id in a scope. */
export const storePrefix = "store:";

/** A UUID in its one canonical spelling, in lower case. Not the nil UUID. */
export const storeIdPattern: RegExp =
  /^(?!0{8}-0{4}-0{4}-0{4}-0{12}$)[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

export const isStoreId = (text: string): boolean => storeIdPattern.test(text);

export const scopeOfStore = (id: string): string => storePrefix + id;

/** Whether a level includes the one that is needed. */
export function isEnough(level: AccessLevel | null, needed: AccessLevel): boolean {
  return level !== null && accessLevels.indexOf(level) >= accessLevels.indexOf(needed);
}

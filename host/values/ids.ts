/** The ids of users and of shared stores. */
import { createHash } from "node:crypto";

import { storeLimits } from "../../shared/limits.ts";
import { storeIdPattern, storePrefix } from "../../shared/shared-scope.ts";
import { hasLoneSurrogate, quoted } from "../../shared/text.ts";
import { ToolError } from "./tool-error.ts";

/** A user id that has been checked, in Unicode's form NFC. Only `checkUserId` makes one. */
export type UserId = string & { readonly __brand: "UserId" };

export const userIdsAllowed =
  `1 to ${storeLimits.userIdBytesMax} bytes without control characters, "/", "\\", ` +
  'leading or trailing space, and other than "." and ".."';

/**
 * Returns the id in the form NFC: two spellings that look the same are one user. Throws `USER_REQUIRED` if there is no user
 * id, and `USER_INVALID` if it cannot name a folder.
 */
export function checkUserId(userId: unknown, action = "call a tool", name = "ctx.userId"): UserId {
  if (userId === undefined || userId === null) {
    throw new ToolError("USER_REQUIRED", `Cannot ${action}: ${name} is missing, every call needs a user`);
  }
  const invalid = (present: string, expected: string): ToolError =>
    new ToolError("USER_INVALID", `Cannot ${action}: ${name} is ${present}, allowed: ${expected}`);
  if (typeof userId !== "string") throw invalid(`of type ${typeof userId}`, "a string");
  if (!isUserId(userId)) throw invalid(quoted(userId), userIdsAllowed);
  return userId.normalize("NFC") as UserId;
}

export function isUserId(userId: string): boolean {
  const bytes = Buffer.byteLength(userId.normalize("NFC"));
  if (bytes < 1 || bytes > storeLimits.userIdBytesMax) return false;
  if (userId === "." || userId === ".." || userId.trim() !== userId) return false;
  return !/[\p{Cc}/\\]/u.test(userId) && !hasLoneSurrogate(userId);
}

/** The id of a shared store: a UUID in canonical form. Only `isStoreId` and `ownStoreOf` make one. */
export type StoreId = string & { readonly __brand: "StoreId" };

export function isStoreId(text: string): text is StoreId {
  return storeIdPattern.test(text);
}

/** The version of the ids that `ownStoreOf` makes, and where it is in an id. */
const [derivedVersion, versionAt] = ["8", 14];

/** The namespace of the ids that `ownStoreOf` makes. It must not change: existing folders have names made with it. */
const namespace = Buffer.from("6d656d63656c6c804f776e53746f7265", "hex");

/**
 * Returns the id of a principal's own store: the user id itself if it is a UUID, else a UUID made from it.
 *
 * A UUID of version 8 counts as any other text. All ids that this function makes have this version, so no user can
 * choose an id whose own store is another's.
 */
export function ownStoreOf(userId: UserId): StoreId {
  const text: string = userId;
  return isStoreId(text) && text[versionAt] !== derivedVersion ? text : derivedFrom(text);
}

/** The user whose own store has the user's id; `null` of a store whose id does not tell whose it is. */
export function ownerByIdOf(store: StoreId): UserId | null {
  const userId = store as string as UserId;
  return ownStoreOf(userId) === store ? userId : null;
}

/**
 * The id of a user's own store, for `ctx.stores` and for those who grant the user access. Throws a `ToolError` with
 * `USER_REQUIRED` or `USER_INVALID`.
 *
 * @example
 * const ctx = { userId: agentId, stores: [{ id: storeIdOf("alice"), kind: "user" }] };
 */
export const storeIdOf = (userId: string): string => ownStoreOf(checkUserId(userId, "name a store", "the user id"));

/**
 * The own store of whoever a text names: by the store's id, or by a user id that is no UUID. `null` for anything else,
 * also for a UUID in another spelling: it could mean the store, or a user of exactly this id.
 */
export function storeOfName(name: unknown): StoreId | null {
  if (typeof name !== "string") return null;
  if (isStoreId(name)) return name;
  return anyUuid.test(name) || !isUserId(name) ? null : ownStoreOf(name.normalize("NFC") as UserId);
}

/** What `storeOfName` accepts. */
export const storeNamesAllowed = "the id of a store, a UUID in lower case, or a user id that is no UUID";

const anyUuid = /^(?:urn:uuid:)?\{?[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\}?$/i;

/** A UUID of version 8 with bits of a SHA-256, as in RFC 9562, appendix B.2. */
function derivedFrom(userId: string): StoreId {
  const digest = createHash("sha256").update(namespace).update(userId, "utf8").digest();
  return uuidOf(digest, derivedVersion) as StoreId;
}

/** The beginning of a digest as a UUID of a version, one hexadecimal digit. */
export function uuidOf(digest: Buffer, version: string): string {
  const hex = digest.toString("hex", 0, 16);
  const variant = (0x8 | (Number.parseInt(hex[16] ?? "0", 16) & 0x3)).toString(16);
  const parts = [hex.slice(0, 8), hex.slice(8, 12), version + hex.slice(13, 16), variant + hex.slice(17, 20)];
  return [...parts, hex.slice(20)].join("-");
}

/** Returns the store that a scope names; `null` for any other scope. */
export function storeOfScope(scope: string): StoreId | null {
  const id = scope.startsWith(storePrefix) ? scope.slice(storePrefix.length) : "";
  return isStoreId(id) ? id : null;
}

export { scopeOfStore } from "../../shared/shared-scope.ts";

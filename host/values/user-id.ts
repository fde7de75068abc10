import { storeLimits } from "../../shared/limits.ts";
import { hasLoneSurrogate, quoted } from "../../shared/text.ts";
import { ToolError } from "./tool-error.ts";

/** A user id that has been checked. Only `checkUserId` makes one. */
export type UserId = string & { readonly __brand: "UserId" };

export const userIdsAllowed =
  `1 to ${storeLimits.userIdBytesMax} bytes without control characters, "/", "\\", ` +
  'leading or trailing space, and other than "." and ".."';

/** Throws `USER_REQUIRED` if there is no user id, and `USER_INVALID` if it cannot name a folder. */
export function checkUserId(userId: unknown, action = "call a tool", name = "ctx.userId"): UserId {
  if (userId === undefined || userId === null) {
    throw new ToolError("USER_REQUIRED", `Cannot ${action}: ${name} is missing, every call needs a user`);
  }
  const invalid = (present: string, expected: string): ToolError =>
    new ToolError("USER_INVALID", `Cannot ${action}: ${name} is ${present}, allowed: ${expected}`);
  if (typeof userId !== "string") throw invalid(`of type ${typeof userId}`, "a string");
  if (!isUserId(userId)) throw invalid(quoted(userId), userIdsAllowed);
  return userId as UserId;
}

export function isUserId(userId: string): boolean {
  const bytes = Buffer.byteLength(userId);
  if (bytes < 1 || bytes > storeLimits.userIdBytesMax) return false;
  if (userId === "." || userId === ".." || userId.trim() !== userId) return false;
  return !/[\p{Cc}/\\]/u.test(userId) && !hasLoneSurrogate(userId);
}

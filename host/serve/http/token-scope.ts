/** Check 7: what a token's scopes allow its request. Decided anew for each request, from that request's own token. */
import type { HttpServeOptions, TokenScopes } from "../serve-options.ts";
import { RefusedRequest } from "./refusals.ts";
import { metadataUrlOf, scopesOf } from "./resource-metadata.ts";

/** What a request may do. `write` includes `read`. */
export type RequestAccess = "read" | "write";

/**
 * The access that the value of a token's scope claim gives; `null` for none. Only the exact names count. A value that is
 * neither a text nor an array of texts gives none, and so does a missing one.
 */
export function accessFor(claim: unknown, { read, write }: Pick<TokenScopes, "read" | "write">): RequestAccess | null {
  const scopes = scopesIn(claim);
  if (scopes.includes(write)) return "write";
  return scopes.includes(read) ? "read" : null;
}

/** The scopes in the value of a claim; none in a value of another form. */
export function scopesIn(claim: unknown): readonly string[] {
  const scopes: readonly unknown[] = typeof claim === "string" ? claim.split(" ") : Array.isArray(claim) ? claim : [];
  return scopes.every((scope) => typeof scope === "string") ? scopes : [];
}

/** Returns what a request may do. Throws `token-scope` if it needs more than its token gives. */
export function checkScope(
  present: RequestAccess | null,
  needed: RequestAccess,
  options: Pick<HttpServeOptions, "access" | "publicUrl">,
): RequestAccess {
  if (present === "write" || (present === "read" && needed === "read")) return present;
  const scopes = scopesOf(options.access);
  // A token without either scope needs one of them. A client that asks for both gets what its user allows.
  const asked = present === null ? scopes : scopes.slice(1);
  throw new RefusedRequest("token-scope", { headers: challenge("insufficient_scope", options, asked) });
}

/** RFC 6750: no error code for a missing token, and no details for an invalid one. */
export function challenge(
  error: "invalid_token" | "insufficient_scope" | null,
  options: Pick<HttpServeOptions, "access" | "publicUrl">,
  scopes: readonly string[] = scopesOf(options.access),
): Record<string, string> {
  const metadataUrl = metadataUrlOf(options);
  const parts = [
    ...(error === null ? [] : [`error="${error}"`]),
    // Neither quotation marks nor backslashes can be in a scope.
    ...(scopes.length === 0 ? [] : [`scope="${scopes.join(" ")}"`]),
    ...(metadataUrl === null ? [] : [`resource_metadata="${metadataUrl.href}"`]),
  ];
  return { "WWW-Authenticate": `Bearer ${parts.join(", ")}`.trim() };
}

/** Check 5: one token, in the one place where a token may be. */
import { httpLimits } from "./http-limits.ts";
import { RefusedRequest } from "./refusals.ts";

/** Throws `token-missing`, also for another scheme, and `token-malformed`. Headers and body hold no other token. */
export function bearerToken(authorization: string | undefined): string {
  if (authorization === undefined || !/^bearer(?: |$)/i.test(authorization)) throw new RefusedRequest("token-missing");
  if (authorization.length > httpLimits.tokenCharsMax) throw new RefusedRequest("token-malformed");
  const token = /^bearer ([\w-]+\.[\w-]+\.[\w-]*)$/i.exec(authorization)?.[1];
  if (token === undefined) throw new RefusedRequest("token-malformed");
  return token;
}

/** RFC 6750: a client without a token is told no error, and of what is wrong with one no more than that. */
export function challenge(reason: "token-missing" | "other", metadataUrl: string | null): Record<string, string> {
  const parts = [
    ...(reason === "other" ? ['error="invalid_token"'] : []),
    ...(metadataUrl === null ? [] : [`resource_metadata="${metadataUrl}"`]),
  ];
  return { "WWW-Authenticate": ["Bearer", parts.join(", ")].join(" ").trim() };
}

/** Checks 5 and 6 of a token: where it is, then who issued it, for whom, until when, and for which user. */
import { parseStrictJson } from "../../../shared/strict-json.ts";
import { isUserId } from "../../values/user-id.ts";
import type { TokenOptions } from "../serve-options.ts";
import { httpLimits } from "./http-limits.ts";
import { decodeProtectedHeader, errors, jwtVerify } from "./jose.ts";
import type { JWTPayload } from "./jose.ts";
import { RefusedRequest } from "./refusals.ts";
import type { RefusalReason } from "./refusals.ts";
import type { VerifyingKeys } from "./token-keys.ts";

/** Whom a token speaks for. */
export interface Identity {
  readonly userId: string;
  /** When what was opened with the token ends, in milliseconds since 1970. `null` without a token. */
  readonly endsAtMs: number | null;
  /** The token's own name, where it has one that can be shown. */
  readonly tokenId: string | null;
}

/**
 * One token, in the one place where a token may be. Throws `token-missing`, also for another scheme, and `token-malformed`.
 * Headers and body hold no other token.
 */
export function bearerToken(authorization: string | undefined): string {
  if (authorization === undefined || !/^bearer(?: |$)/i.test(authorization)) throw new RefusedRequest("token-missing");
  if (authorization.length > httpLimits.tokenCharsMax) throw new RefusedRequest("token-malformed");
  const token = /^bearer ([\w-]+\.[\w-]+\.[\w-]*)$/i.exec(authorization)?.[1];
  if (token === undefined) throw new RefusedRequest("token-malformed");
  return token;
}

/** Throws a reason that begins with `token-`, or `keys-unavailable`. */
export async function verifyToken(token: string, keys: VerifyingKeys, options: TokenOptions): Promise<Identity> {
  checkText(token);
  checkHeader(token);
  const payload = await verified(token, keys, options);
  const userId = Object.hasOwn(payload, options.userClaim) ? payload[options.userClaim] : undefined;
  if (typeof userId !== "string" || !isUserId(userId)) throw new RefusedRequest("token-user");
  const { exp = Infinity, jti } = payload;
  // JSON can write a number that is beyond all numbers.
  if (!Number.isFinite(exp)) throw new RefusedRequest("token-claim");
  return {
    userId,
    endsAtMs: (exp + options.clockToleranceS) * 1000,
    tokenId: typeof jti === "string" && /^[\x21-\x7e]{1,64}$/.test(jti) ? jti : null,
  };
}

/**
 * Of a claim that stands twice some readers take the first, and jose the last; a mark at the beginning is passed over by
 * some. Whom a token is for must not depend on who reads it.
 */
function checkText(token: string): void {
  try {
    for (const part of token.split(".").slice(0, 2)) {
      const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(Buffer.from(part, "base64url"));
      parseStrictJson(text, httpLimits.bodyDepthMax);
    }
  } catch (cause) {
    throw new RefusedRequest("token-malformed", { cause });
  }
}

/** What kinds of tokens may say whom they are for. Those for signing out, say, are signed with the same keys. */
const types = new Set(["jwt", "at+jwt", "application/at+jwt"]);

/** Keys that a token brings or points at (`jwk`, `jku`, `x5c`, `x5u`) are not looked at, here or in jose. */
function checkHeader(token: string): void {
  let header;
  try {
    header = decodeProtectedHeader(token);
  } catch (cause) {
    throw new RefusedRequest("token-malformed", { cause });
  }
  // What must be understood and is not, or changes how the token is read.
  if ("crit" in header || "b64" in header) throw new RefusedRequest("token-malformed");
  const type: unknown = header.typ ?? "jwt";
  if (typeof type !== "string" || !types.has(type.toLowerCase())) throw new RefusedRequest("token-type");
}

async function verified(token: string, keys: VerifyingKeys, options: TokenOptions): Promise<JWTPayload> {
  const { issuer, audience, clockToleranceS } = options;
  try {
    const { payload } = await jwtVerify(token, keys.find, {
      algorithms: [...keys.algorithms],
      issuer,
      audience,
      clockTolerance: clockToleranceS,
      requiredClaims: ["exp"],
    });
    return payload;
  } catch (cause) {
    throw new RefusedRequest(reasonOf(cause), { cause });
  }
}

const claimReasons: Readonly<Record<string, RefusalReason>> = {
  iss: "token-issuer",
  aud: "token-audience",
  nbf: "token-not-yet-valid",
};

/** Whatever is not known to be the token's fault is the keys': then nobody is admitted, and nobody is told that he is wrong. */
function reasonOf(error: unknown): RefusalReason {
  if (error instanceof errors.JWTExpired) return "token-expired";
  if (error instanceof errors.JWTClaimValidationFailed) return claimReasonOf(error);
  if (error instanceof errors.JOSEAlgNotAllowed) return "token-algorithm";
  if (error instanceof errors.JWSSignatureVerificationFailed) return "token-signature";
  if (error instanceof errors.JWKSNoMatchingKey) return "token-key";
  if (error instanceof errors.JWKSMultipleMatchingKeys) return "token-key";
  if (error instanceof errors.JWSInvalid || error instanceof errors.JWTInvalid) return "token-malformed";
  return "keys-unavailable";
}

function claimReasonOf({ claim, reason }: errors.JWTClaimValidationFailed): RefusalReason {
  // A time that is no number is no time, and not one that has not come yet.
  if (claim === "nbf" && reason !== "check_failed") return "token-claim";
  return claimReasons[claim] ?? "token-claim";
}

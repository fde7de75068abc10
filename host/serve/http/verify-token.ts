/** Checks 5 and 6: finds the token, and verifies its issuer, audience, expiry and user. */
import type { OriginClass } from "../../../shared/origin.ts";
import { isOriginClass, lowestOf } from "../../../shared/origin.ts";
import { parseStrictJson } from "../../../shared/strict-json.ts";
import { quoted } from "../../../shared/text.ts";
import { isUserId } from "../../values/ids.ts";
import { decodeProtectedHeader, errors, jwtVerify } from "../jose.ts";
import type { JWTPayload } from "../jose.ts";
import type { TokenOptions, TokenOrigins } from "../serve-options.ts";
import { httpLimits } from "./http-limits.ts";
import { RefusedRequest } from "./refusals.ts";
import type { RefusalReason } from "./refusals.ts";
import type { VerifyingKeys } from "./token-keys.ts";
import { accessFor, scopesIn } from "./token-scope.ts";
import type { RequestAccess } from "./token-scope.ts";

/** The verified user of a request, and its client. */
export interface Identity extends TokenOrigin {
  readonly userId: string;
  /** `null`: the token is valid and allows nothing. */
  readonly access: RequestAccess | null;
  /** Whether a person who has signed in with it may do what only the owner may. It gives a client nothing. */
  readonly isOwner: boolean;
  /** When streams that were opened with the token end. Milliseconds since the epoch; `null` without a token. */
  readonly endsAtMs: number | null;
  /**
   * Labels of its calls for the audit log. `token`: its token's `jti`, if that is short printable ASCII. `key`: the
   * beginning of the hash of its agent's key.
   */
  readonly labels: { readonly token?: string; readonly key?: string };
}

/** What a verified token says about its client, and about the origin of the client's calls. */
interface TokenOrigin {
  /** The client's id; `null` if the token names none. */
  readonly client: string | null;
  /** The lowest class that the token gives; `null` if it gives none. */
  readonly originClass: OriginClass | null;
}

/** The verified user of a request that may do something. */
export interface Admitted extends Identity {
  readonly access: RequestAccess;
  readonly originClass: OriginClass;
}

/**
 * Returns the token from the `Authorization` header, the only place for it. Throws `token-missing`, also for another
 * scheme, and `token-malformed`.
 */
export function bearerToken(authorization: string | undefined): string {
  if (authorization === undefined || !/^bearer(?:[ \t]|$)/i.test(authorization))
    throw new RefusedRequest("token-missing");
  if (authorization.length > httpLimits.tokenCharsMax) throw new RefusedRequest("token-malformed");
  const token = /^bearer[ \t]+([\w-]+\.[\w-]+\.[\w-]*)$/i.exec(authorization)?.[1];
  if (token === undefined) throw new RefusedRequest("token-malformed");
  return token;
}

/** Throws a reason that begins with `token-`, or `keys-unavailable`. */
export async function verifyToken(token: string, keys: VerifyingKeys, options: TokenOptions): Promise<Identity> {
  const { hasAudience } = checkText(token);
  checkHeader(token);
  const payload = await verified(token, keys, { ...options, audience: hasAudience ? options.audience : undefined });
  const claim = (name: string): unknown => (Object.hasOwn(payload, name) ? payload[name] : undefined);
  if (!hasAudience) checkClient(claim(options.origins.clientClaim), options);
  const userId = claim(options.userClaim);
  if (typeof userId !== "string" || !isUserId(userId)) throw new RefusedRequest("token-user");
  const { exp = Infinity, jti } = payload;
  // JSON can contain a number such as 1e999, which is parsed as `Infinity`.
  if (!Number.isFinite(exp)) throw new RefusedRequest("token-claim");
  const { scopes } = options;
  return {
    userId,
    access: scopes === null ? "write" : accessFor(claim(scopes.claim), scopes),
    isOwner: scopes === null || scopesIn(claim(scopes.claim)).includes(scopes.owner),
    endsAtMs: (exp + options.clockToleranceS) * 1000,
    ...originIn(claim, options.origins),
    labels: typeof jti === "string" && /^[\x21-\x7e]{1,64}$/.test(jti) ? { token: jti } : {},
  };
}

/**
 * Refuses tokens that parsers read differently. Of a duplicate claim, some parsers take the first, and jose the last;
 * some skip a byte order mark.
 */
function checkText(token: string): { readonly hasAudience: boolean } {
  try {
    const [, claims] = token.split(".", 2).map((part) => {
      const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(Buffer.from(part, "base64url"));
      return parseStrictJson(text, httpLimits.bodyDepthMax);
    });
    return { hasAudience: Object.hasOwn(Object(claims), "aud") };
  } catch (cause) {
    throw new RefusedRequest("token-malformed", { cause });
  }
}

/**
 * A token without an audience can be for any service of its issuer. It is one for this server only if the operator says
 * so of its client.
 */
function checkClient(client: unknown, { clientsWithoutAudience }: TokenOptions): void {
  if (typeof client === "string" && clientsWithoutAudience.includes(client)) return;
  const ofClient = typeof client === "string" ? ` of the client ${quoted(client)}` : "";
  const remedy = "if all tokens of this client are for this server, name it in serve.auth.clientsWithoutAudience";
  const cause = new RangeError(`A token${ofClient} has no aud: ${remedy} (--clients-without-audience)`);
  throw new RefusedRequest("token-audience-missing", { cause });
}

/** The allowed types. Tokens for other purposes, such as logout tokens, are signed with the same keys. */
const types = new Set(["jwt", "at+jwt", "application/at+jwt"]);

/** Neither this code nor jose uses keys that a token contains or points to (`jwk`, `jku`, `x5c`, `x5u`). */
function checkHeader(token: string): void {
  let header;
  try {
    header = decodeProtectedHeader(token);
  } catch (cause) {
    throw new RefusedRequest("token-malformed", { cause });
  }
  // Extensions that this code does not support, and that change how the token is read.
  if ("crit" in header || "b64" in header) throw new RefusedRequest("token-malformed");
  const type: unknown = header.typ ?? "jwt";
  if (typeof type !== "string" || !types.has(type.toLowerCase())) throw new RefusedRequest("token-type");
}

async function verified(token: string, keys: VerifyingKeys, options: VerifiedClaims): Promise<JWTPayload> {
  const { issuer, audience, clockToleranceS } = options;
  try {
    const { payload } = await jwtVerify(token, keys.find, {
      algorithms: [...keys.algorithms],
      issuer,
      ...(audience !== undefined && { audience }),
      clockTolerance: clockToleranceS,
      requiredClaims: ["exp"],
    });
    return payload;
  } catch (cause) {
    throw new RefusedRequest(reasonOf(cause), { cause });
  }
}

type VerifiedClaims = Pick<TokenOptions, "issuer" | "clockToleranceS"> & { readonly audience: string | undefined };

const claimReasons: Readonly<Record<string, RefusalReason>> = {
  iss: "token-issuer",
  aud: "token-audience",
  nbf: "token-not-yet-valid",
};

/** Errors that are not clearly the token's fault count as the keys' fault: the client is refused, but not blamed. */
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
  // `nbf` is not a number, so it cannot be "not yet valid".
  if (claim === "nbf" && reason !== "check_failed") return "token-claim";
  return claimReasons[claim] ?? "token-claim";
}

/**
 * Reads claims through `claim`, which is `undefined` for a missing one. Throws `token-origin` for a claim that does not
 * have the form that the operator expects: with a fallback, a mistake of the issuer could give more trust.
 */
function originIn(claim: (name: string) => unknown, options: TokenOrigins): TokenOrigin {
  const { clientClaim, ofClients } = options;
  const named = claim(clientClaim);
  if (named !== undefined && typeof named !== "string" && ofClients.size > 0) throw new RefusedRequest("token-origin");
  const client = typeof named === "string" ? named : null;
  const classes = [client === null ? undefined : ofClients.get(client), classIn(claim, options)];
  const given = classes.filter((each) => each !== undefined);
  return { client, originClass: given.length === 0 ? null : lowestOf(...given) };
}

function classIn(claim: (name: string) => unknown, { claim: name }: TokenOrigins): OriginClass | undefined {
  const of = name === null ? undefined : claim(name);
  if (of === undefined || isOriginClass(of)) return of;
  throw new RefusedRequest("token-origin");
}

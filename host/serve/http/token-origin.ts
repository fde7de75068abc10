/** What a verified token says about its client, and about the origin of the client's calls. */
import { isOriginClass, lowestOf } from "../../../shared/origin.ts";
import type { OriginClass } from "../../../shared/origin.ts";
import type { TokenOrigins } from "../serve-options.ts";
import { RefusedRequest } from "./refusals.ts";

export interface TokenOrigin {
  /** The client's id; `null` if the token names none. */
  readonly client: string | null;
  /** The lowest class that the token gives; `null` if it gives none. */
  readonly originClass: OriginClass | null;
}

/**
 * Reads claims through `claim`, which is `undefined` for a missing one. Throws `token-origin` for a claim that does not
 * have the form that the operator expects: with a fallback, a mistake of the issuer could give more trust.
 */
export function originIn(claim: (name: string) => unknown, options: TokenOrigins): TokenOrigin {
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

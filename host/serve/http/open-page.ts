/** Opens the page of a server: for everybody who signs in, or for one person on their own machine. */
import type { Runtime } from "../../runtime/api.ts";
import type { PageParts } from "../page/answer-page.ts";
import type { OneTimeLink } from "../page/one-time-link.ts";
import { SignIn } from "../page/sign-in.ts";
import type { HttpServeOptions, SignInPageOptions } from "../serve-options.ts";
import type { Admission } from "./admission.ts";
import { readKeyFile } from "./key-file.ts";
import type { Unusable } from "./key-file.ts";
import { scopesOf } from "./resource-metadata.ts";

/** The path of the page for everybody. */
export const pagePath = "/memory";

/** The page of a person on their own machine: `memcell open`. */
export interface OwnPage {
  /** The only way in. */
  readonly door: OneTimeLink;
  readonly toChange: PageParts["toChange"];
}

interface OpeningParts {
  readonly runtime: Runtime;
  readonly admission: Admission;
  /** The origin of the server itself. */
  readonly origin: () => string;
  readonly onError: (error: unknown) => void;
}

/** Rejects with a `RangeError` if a file cannot be used, and for a server without tokens or without a public URL. */
export async function openPage(
  options: HttpServeOptions,
  own: OwnPage | null,
  parts: OpeningParts,
): Promise<PageParts | null> {
  const { page, bodyBytesMax: formBytesMax } = options;
  const { runtime, origin } = parts;
  if (own !== null) return { base: own.door.base, origin, ...own, runtime, formBytesMax };
  if (page === null) return null;
  const [door, publicOrigin] = await openDoor(page, options, parts);
  return { base: pagePath, origin: () => publicOrigin, door, runtime, toChange: null, formBytesMax };
}

async function openDoor(
  { clientId, clientSecretFile, keyFile }: SignInPageOptions,
  { access, publicUrl }: HttpServeOptions,
  { runtime, admission, onError }: OpeningParts,
): Promise<readonly [SignIn, string]> {
  if (access.kind !== "token" || publicUrl === null) {
    throw new RangeError("Cannot serve the page: it needs tokens of an issuer, and a public URL");
  }
  const { issuer, audience, scopes } = access.token;
  const { origin } = new URL(publicUrl);
  const secret = clientSecretFile === null ? null : (await readKeyFile(clientSecretFile, unusableSecret)).trim();
  const door = new SignIn({
    issuer,
    audience,
    scopes: scopes === null ? [] : [...scopesOf(access), scopes.owner],
    clientId,
    clientSecret: secret,
    key: keyIn(await readKeyFile(keyFile, unusableKey)),
    base: pagePath,
    origin,
    verify: async (token) => {
      const { userId, access: may, isOwner, endsAtMs } = await admission.ofToken(token);
      const mayChange = isOwner && runtime.asReadOnly() !== runtime;
      return { userId, mayLook: isOwner || may !== null, mayChange, endsAtMs: endsAtMs ?? 0 };
    },
    onError,
  });
  return [door, origin];
}

function keyIn(text: string): Uint8Array {
  const line = text.trim();
  const key = Buffer.from(line, /^[0-9a-f]{64}$/i.test(line) ? "hex" : "base64");
  if (/^[A-Za-z0-9+/_-]{43,64}=?$/.test(line) && key.length === 32) return key;
  throw unusableKey("it has no 32 bytes in Base64 or hexadecimal; to make one: openssl rand -base64 32");
}

const unusableKey: Unusable = (why, cause) => new RangeError(`Cannot use the key of the page: ${why}`, { cause });
const unusableSecret: Unusable = (why, cause) => new RangeError(`Cannot use the client's secret: ${why}`, { cause });

/** The URIs of a user's memory. None of them names a user: whose memory it is comes from whoever asks. */
import { familyName } from "../../../shared/manifest.ts";
import { mcpLimits } from "./mcp-limits.ts";

/** The indexes of all families, as they enter a prompt. */
export const indexUri = "memory://index";

/** `family` is `null` for the index of all. */
export type MemoryUri =
  | { readonly kind: "index"; readonly family: string | null }
  | { readonly kind: "entry"; readonly family: string; readonly name: string };

export const indexUriOf = (family: string): string => `memory://${family}/index`;

export const entryUriTemplate = (family: string): string => `memory://${family}/entry/{name}`;

/** Whatever the name is: one that is empty or too long becomes a URI that names nothing. */
export function entryUri(family: string, name: string): string {
  return `memory://${family}/entry/${encodeURIComponent(name).replace(/[!'()*]/g, percentEncoded)}`;
}

/** RFC 3986 reserves these five, and `encodeURIComponent` leaves them. */
const percentEncoded = (mark: string): string => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`;

/**
 * `null` for everything but the three exact forms. A name is percent-decoded once; whether an entry can have it is the
 * guest's to judge. No parser of URLs is asked: they forgive, and each forgives something else.
 */
export function parseMemoryUri(uri: string): MemoryUri | null {
  if (uri === indexUri) return { kind: "index", family: null };
  if (uri.length > mcpLimits.uriCharsMax) return null;
  const [, family = "", encoded] = form.exec(uri) ?? [];
  if (!familyName.test(family)) return null;
  if (encoded === undefined) return { kind: "index", family };
  try {
    return { kind: "entry", family, name: decodeURIComponent(encoded) };
  } catch {
    // The bytes are no UTF-8.
    return null;
  }
}

const form = /^memory:\/\/([a-z0-9-]+)\/(?:index|entry\/((?:[A-Za-z0-9._~-]|%[0-9A-Fa-f]{2})+))$/;

/** The one spelling of what a URI names, which a client may have written in another. */
export function canonicalUri(parsed: MemoryUri): string {
  if (parsed.kind === "entry") return entryUri(parsed.family, parsed.name);
  return parsed.family === null ? indexUri : indexUriOf(parsed.family);
}

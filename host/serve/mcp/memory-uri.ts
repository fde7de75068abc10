/** The URIs of a user's memory. They contain no user: the client's identity decides whose memory it is. */
import { familyName } from "../../../shared/manifest.ts";
import { mcpLimits } from "./mcp-limits.ts";

/** The indexes of all families together, as in a prompt. */
export const indexUri = "memory://index";

/** `family` is `null` for the index of all families. */
export type MemoryUri =
  | { readonly kind: "index"; readonly family: string | null }
  | { readonly kind: "entry"; readonly family: string; readonly name: string };

export const indexUriOf = (family: string): string => `memory://${family}/index`;

export const entryUriTemplate = (family: string): string => `memory://${family}/entry/{name}`;

/** Accepts any name. An empty or overlong one results in an invalid URI. */
export function entryUri(family: string, name: string): string {
  return `memory://${family}/entry/${encodeURIComponent(name).replace(/[!'()*]/g, percentEncoded)}`;
}

/** RFC 3986 reserves these five characters, but `encodeURIComponent` does not encode them. */
const percentEncoded = (mark: string): string => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`;

/**
 * Returns `null` for everything but the three exact forms. Percent-decodes a name once; the guest decides whether an
 * entry can have it. Uses no URL parser: they tolerate errors, each in its own way.
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
    // The bytes are not UTF-8.
    return null;
  }
}

const form = /^memory:\/\/([a-z0-9-]+)\/(?:index|entry\/((?:[A-Za-z0-9._~-]|%[0-9A-Fa-f]{2})+))$/;

/** The canonical spelling of a URI. Clients can use other spellings. */
export function canonicalUri(parsed: MemoryUri): string {
  if (parsed.kind === "entry") return entryUri(parsed.family, parsed.name);
  return parsed.family === null ? indexUri : indexUriOf(parsed.family);
}

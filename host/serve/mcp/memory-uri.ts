/** The URIs of a user's memory. None of them names a user: whose memory it is comes from whoever asks. */
import { mcpLimits } from "./mcp-limits.ts";

export const indexUri = "memory://index";
export const entryUriTemplate = "memory://entry/{name}";

export type MemoryUri = { readonly kind: "index" } | { readonly kind: "entry"; readonly name: string };

/** Whatever the name is: one that no entry can have becomes a URI that is never read. */
export function entryUri(name: string): string {
  return `memory://entry/${encodeURIComponent(name)}`;
}

/**
 * `null` for everything but the two exact forms. A name is percent-decoded once; whether an entry can have it is the
 * guest's to judge. No parser of URLs is asked: they forgive, and each forgives something else.
 */
export function parseMemoryUri(uri: string): MemoryUri | null {
  if (uri === indexUri) return { kind: "index" };
  if (uri.length > mcpLimits.uriCharsMax) return null;
  const encoded = /^memory:\/\/entry\/((?:[A-Za-z0-9._~-]|%[0-9A-Fa-f]{2})+)$/.exec(uri)?.[1];
  if (encoded === undefined) return null;
  try {
    return { kind: "entry", name: decodeURIComponent(encoded) };
  } catch {
    // The bytes are no UTF-8.
    return null;
  }
}

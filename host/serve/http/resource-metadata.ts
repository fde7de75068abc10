/** RFC 9728: metadata that tells a client without a token who issues tokens. */
import type { HttpServeOptions } from "../serve-options.ts";

/** Where MCP clients also look, for a server with a path. */
export const metadataRoot = "/.well-known/oauth-protected-resource";

/** `null` without a public URL, and for a server that takes no tokens. */
export function metadataUrlOf({ access, publicUrl }: Pick<HttpServeOptions, "access" | "publicUrl">): URL | null {
  if (publicUrl === null || access.kind !== "token") return null;
  const { origin, pathname } = new URL(publicUrl);
  return new URL(`${metadataRoot}${pathname === "/" ? "" : pathname}`, origin);
}

/** The names of the scopes: to read, then to write. Empty if tokens need none. */
export function scopesOf(access: HttpServeOptions["access"]): readonly string[] {
  const scopes = access.kind === "token" ? access.token.scopes : null;
  return scopes === null ? [] : [scopes.read, scopes.write];
}

export function resourceMetadata({ access, publicUrl }: Pick<HttpServeOptions, "access" | "publicUrl">): object {
  const scopes = scopesOf(access);
  const issuer = access.kind === "token" ? access.token.issuer : "";
  return {
    resource: publicUrl,
    // An issuer can be any text. Clients can only use a URL.
    ...(URL.canParse(issuer) && { authorization_servers: [issuer] }),
    ...(scopes.length > 0 && { scopes_supported: scopes }),
    bearer_methods_supported: ["header"],
    resource_name: "memcell",
  };
}

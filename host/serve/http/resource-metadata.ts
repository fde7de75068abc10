/** RFC 9728: metadata that tells a client without a token who issues tokens. */
import type { HttpServeOptions } from "../serve-options.ts";

/** `null` without a public URL, and for a server that takes no tokens. */
export function metadataUrlOf({ access, publicUrl }: Pick<HttpServeOptions, "access" | "publicUrl">): URL | null {
  if (publicUrl === null || access.kind !== "token") return null;
  const { origin, pathname } = new URL(publicUrl);
  return new URL(`/.well-known/oauth-protected-resource${pathname === "/" ? "" : pathname}`, origin);
}

export function resourceMetadata({ access, publicUrl }: Pick<HttpServeOptions, "access" | "publicUrl">): object {
  const issuer = access.kind === "token" ? access.token.issuer : "";
  return {
    resource: publicUrl,
    // An issuer can be any text. Clients can only use a URL.
    ...(URL.canParse(issuer) && { authorization_servers: [issuer] }),
    bearer_methods_supported: ["header"],
    resource_name: "memcell",
  };
}

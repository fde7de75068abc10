/** RFC 9728: where a client that was refused for want of a token learns who issues them. */
import type { HttpServeOptions } from "../serve-options.ts";

/** Without a public URL, and where no token is taken, there is none. */
export function metadataUrlOf({ access, publicUrl }: Pick<HttpServeOptions, "access" | "publicUrl">): URL | null {
  if (publicUrl === null || access.kind !== "token") return null;
  const { origin, pathname } = new URL(publicUrl);
  return new URL(`/.well-known/oauth-protected-resource${pathname === "/" ? "" : pathname}`, origin);
}

export function resourceMetadata({ access, publicUrl }: Pick<HttpServeOptions, "access" | "publicUrl">): object {
  const issuer = access.kind === "token" ? access.token.issuer : "";
  return {
    resource: publicUrl,
    // An issuer may be any text; clients look for a server only where it is a URL.
    ...(URL.canParse(issuer) && { authorization_servers: [issuer] }),
    bearer_methods_supported: ["header"],
    resource_name: "memcell",
  };
}

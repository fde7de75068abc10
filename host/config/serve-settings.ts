/** Converts settings to server options, and checks that they fit together. */
import type { OriginClass } from "../../shared/origin.ts";
import { quoted } from "../../shared/text.ts";
import { isLoopback, isWildcard } from "../serve/loopback.ts";
import type {
  Access,
  HttpServeOptions,
  MetricsAddress,
  SignInPageOptions,
  StorageOptions,
  TokenKeys,
  TokenOrigins,
  TokenScopes,
} from "../serve/serve-options.ts";
import { readClientOrigin } from "./origin-setting.ts";
import type { Settings } from "./read-settings.ts";
import { flagOf, settingPaths } from "./settings.ts";
import type { SettingPath } from "./settings.ts";
import { sourceText } from "./source.ts";
import { UsageError } from "./usage-error.ts";
import { isUrl } from "./web-address.ts";

/** How `memcell serve` serves, and whom. */
export type ServeSettings =
  | { readonly kind: "stdio"; readonly userId: string; readonly originClass: OriginClass }
  | { readonly kind: "http"; readonly options: HttpServeOptions; readonly metrics: MetricsAddress | null };

/** Throws `UsageError` for settings that do not fit together, so that the server never serves anyone unintended. */
export function serveSettings(settings: Settings): ServeSettings {
  const { values } = settings;
  const originClass = values["serve.originClass"];
  if (!values["serve.http"]) return { kind: "stdio", userId: userOverStdio(settings), originClass };
  const options: HttpServeOptions = {
    access: accessOf(settings),
    originClass,
    storage: storageOf(settings),
    host: values["serve.host"],
    port: values["serve.port"],
    path: values["serve.path"],
    page: pageOf(settings),
    allowedHosts: values["serve.allowedHosts"],
    allowedOrigins: values["serve.allowedOrigins"],
    publicUrl: values["serve.publicUrl"],
    bodyBytesMax: values["serve.bodyBytesMax"],
    requestsPerMinute: values["serve.requestsPerMinute"],
    streamsPerUserMax: values["serve.streamsPerUserMax"],
    closeGraceMs: values["serve.closeGraceMs"],
  };
  if (isWildcard(options.host) && options.allowedHosts.length === 0 && options.publicUrl === null) {
    missing("serve.allowedHosts", "nothing else says which host name clients use");
  }
  return { kind: "http", options, metrics: metricsAddress(values["serve.metrics"]) };
}

function metricsAddress(text: string | null): MetricsAddress | null {
  const at = text?.lastIndexOf(":") ?? -1;
  return text === null ? null : { host: text.slice(0, at), port: Number(text.slice(at + 1)) };
}

const authPaths = settingPaths.filter((path) => path.startsWith("serve.auth."));
const stdioPaths = new Set<SettingPath>([
  "serve.user",
  "serve.sharingByModels",
  "serve.originClass",
  "serve.http",
  "serve.closeGraceMs",
]);
/** Settings without effect unless HTTP is on. File and environment may set them for later; a flag is an error. */
const httpPaths = settingPaths.filter((path) => path.startsWith("serve.") && !stdioPaths.has(path));

function userOverStdio({ values, sources }: Settings): string {
  // An operator who configures tokens must not get a server without them.
  const asked =
    authPaths.find((path) => sources[path].kind !== "default") ??
    httpPaths.find((path) => sources[path].kind === "flag");
  if (asked !== undefined)
    throw new UsageError(`${told(asked, sources)} is for HTTP, allowed: with ${named("serve.http")}`);
  return values["serve.user"] ?? missing("serve.user", "over standard input and output, one user is served");
}

/** Settings without effect unless there are storage routes. */
const storagePaths = ["serve.agentKeys", "serve.internalValues"] as const;

function storageOf({ values, sources }: Settings): StorageOptions | null {
  if (!values["serve.storage"]) {
    const asked = storagePaths.find((path) => sources[path].kind !== "default");
    if (asked === undefined) return null;
    throw new UsageError(`${told(asked, sources)} is for the storage routes, allowed: with ${named("serve.storage")}`);
  }
  if (values["serve.agentKeys"] !== null && values["serve.user"] !== null) {
    throw new UsageError(
      `${told("serve.user", sources)} and ${told("serve.agentKeys", sources)} do not go together, allowed: one user, or keys of agents`,
    );
  }
  return { agentKeys: values["serve.agentKeys"], internalValues: values["serve.internalValues"] };
}

/** Settings without effect unless there is a page. */
const pagePaths = ["serve.pageClient", "serve.pageClientSecret", "serve.pageKey"] as const;

function pageOf({ values, sources }: Settings): SignInPageOptions | null {
  if (!values["serve.page"]) {
    const asked = pagePaths.find((path) => sources[path].kind !== "default");
    if (asked === undefined) return null;
    throw new UsageError(`${told(asked, sources)} is for the page, allowed: with ${named("serve.page")}`);
  }
  if (values["serve.user"] !== null) {
    throw new UsageError(
      `${told("serve.page", sources)} and ${told("serve.user", sources)} do not go together: nobody signs in for one user, and "memcell open" is a page for one`,
    );
  }
  if (values["serve.publicUrl"] === null) missing("serve.publicUrl", "the issuer sends the browser back there");
  return {
    clientId: values["serve.pageClient"] ?? missing("serve.pageClient", "the issuer knows the page by it"),
    clientSecretFile: values["serve.pageClientSecret"],
    keyFile: values["serve.pageKey"] ?? missing("serve.pageKey", "it seals what browsers keep for the page"),
  };
}

function accessOf({ values, sources }: Settings): Access {
  const userId = values["serve.user"];
  const auth = authPaths.find((path) => sources[path].kind !== "default");
  if (userId !== null && auth !== undefined) {
    throw new UsageError(
      `${told("serve.user", sources)} and ${told(auth, sources)} do not go together, allowed: one user, or tokens`,
    );
  }
  if (userId !== null) return oneUser(userId, values["serve.host"], sources);
  if (auth === undefined) {
    throw new UsageError(
      `nobody has access over HTTP, allowed: ${named("serve.auth.issuer")} for everyone with its tokens, ` +
        `or ${named("serve.user")} for one user on this machine`,
    );
  }
  return {
    kind: "token",
    token: {
      issuer: values["serve.auth.issuer"] ?? missing("serve.auth.issuer", `${told(auth, sources)} needs it`),
      audience:
        values["serve.auth.audience"] ?? missing("serve.auth.audience", "tokens for other services would be accepted"),
      clientsWithoutAudience: values["serve.auth.clientsWithoutAudience"],
      keys: keysOf({ values, sources }),
      userClaim: values["serve.auth.userClaim"],
      algorithms: [...new Set(values["serve.auth.algorithms"])],
      clockToleranceS: values["serve.auth.clockToleranceS"],
      scopes: scopesOf({ values, sources }),
      origins: originsOf({ values, sources }),
    },
  };
}

/** Settings without effect unless tokens need scopes. */
const scopePaths = [
  "serve.auth.scopeClaim",
  "serve.auth.readScope",
  "serve.auth.writeScope",
  "serve.auth.ownerScope",
] as const;

function scopesOf({ values, sources }: Pick<Settings, "values" | "sources">): TokenScopes | null {
  if (!values["serve.auth.requireScopes"]) {
    // An operator who names scopes must not get a server that ignores them.
    const asked = scopePaths.find((path) => sources[path].kind !== "default");
    if (asked === undefined) return null;
    throw new UsageError(
      `${told(asked, sources)} is for the scopes of tokens, allowed: with ${named("serve.auth.requireScopes")}`,
    );
  }
  const [claim, read, write, owner] = scopePaths.map((path) => values[path]) as [string, string, string, string];
  const [, first, second, third] = scopePaths;
  const same =
    read === write ? [first, second] : read === owner ? [first, third] : write === owner ? [second, third] : null;
  if (same === null) return { claim, read, write, owner };
  const both = same.map((path) => told(path, sources)).join(" and ");
  throw new UsageError(`${both} are the same, allowed: two names`);
}

function originsOf({ values, sources }: Pick<Settings, "values" | "sources">): TokenOrigins {
  const pairs = values["serve.auth.clientOrigins"].flatMap((text) => {
    const pair = readClientOrigin(text);
    return pair === null ? [] : [pair];
  });
  const ofClients = new Map(pairs);
  const twice = pairs.find(([client, of]) => ofClients.get(client) !== of)?.[0];
  if (twice === undefined) {
    return { clientClaim: values["serve.auth.clientClaim"], ofClients, claim: values["serve.auth.originClaim"] };
  }
  throw new UsageError(
    `${told("serve.auth.clientOrigins", sources)} has two classes for ${quoted(twice)}, allowed: one`,
  );
}

function oneUser(userId: string, host: string, sources: Settings["sources"]): Access {
  if (isLoopback(host)) return { kind: "one-user", userId };
  throw new UsageError(
    `${told("serve.host", sources)} is ${JSON.stringify(host)}, allowed without tokens: a loopback address, such as 127.0.0.1`,
  );
}

function keysOf({ values, sources }: Pick<Settings, "values" | "sources">): TokenKeys {
  const [jwks, publicKey] = [values["serve.auth.jwks"], values["serve.auth.publicKey"]];
  if (jwks !== null && publicKey !== null) {
    throw new UsageError(
      `${told("serve.auth.jwks", sources)} and ${told("serve.auth.publicKey", sources)} do not go together, allowed: one`,
    );
  }
  if (publicKey !== null) return { kind: "public-key", file: publicKey };
  if (jwks === null)
    return missing("serve.auth.jwks", `it or ${named("serve.auth.publicKey")} is needed to verify tokens`);
  return isUrl(jwks) ? { kind: "jwks-url", url: jwks } : { kind: "jwks-file", file: jwks };
}

function named(path: SettingPath): string {
  return `${path} (--${flagOf(path)})`;
}

function told(path: SettingPath, sources: Settings["sources"]): string {
  return `${path} (${sourceText(sources[path])})`;
}

function missing(path: SettingPath, why: string): never {
  throw new UsageError(`${named(path)} is missing: ${why}`);
}

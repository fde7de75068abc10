/** The one table of all settings. Reading, printing and documenting settings all use it. */
import { closingLimits, queueLimits } from "../../shared/limits.ts";
import { defaultPlugins } from "../plugins/bundled-plugins.ts";
import { tokenAlgorithms } from "../serve/serve-options.ts";
import { isUserId, userIdsAllowed } from "../values/ids.ts";
import { clientOrigin, originClass } from "./origin-setting.ts";
import {
  fileName,
  folderName,
  isListed,
  isName,
  listOf,
  onOrOff,
  oneOf,
  optionalSetting,
  plainText,
  readMount,
  setting,
  someOf,
  textLike,
  textThat,
  timeMs,
  whole,
} from "./setting.ts";
import type { Setting } from "./setting.ts";
import { isAddress, isDatabaseUrl, isOrigin, isSafeUrl, isUrl } from "./web-address.ts";

const mount = textThat((text) => readMount(text) !== null, 'SCOPE=DIR, as in "notes=../notes"');
const user = textThat(isUserId, `the id of a user, ${userIdsAllowed} (USER_INVALID)`);
const host = textLike(/^[A-Za-z0-9.:-]{1,253}$/, "an IP address or a host's name, without a port");
const hostHeader = textLike(/^(?:[A-Za-z0-9._-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])$/, "a host's name without a port");
const databaseUrl = textThat(
  isDatabaseUrl,
  "postgres://ROLE@HOST/DATABASE without a password: that comes from PGPASSWORD, or from the file that PGPASSFILE names",
);
const path = textLike(
  /^\/$|^(?:\/[A-Za-z0-9_~-][A-Za-z0-9._~-]{0,63}){1,8}$/,
  'a path of a URL, as in "/mcp", without a "/" at its end',
);
const address = textThat(isAddress, 'an address and a port, as in "127.0.0.1:9464" or "[::1]:9464"');
const origin = textThat(isOrigin, 'an origin, as in "https://app.example"');
const url = textThat(isSafeUrl, "an https: URL, or http: on a loopback address");
const fileOrUrl = textThat(
  (text) => (isUrl(text) ? isSafeUrl(text) : isName(text)),
  "the name of a file, an https: URL, or http: on a loopback address",
  "file-or-url",
);
/** RFC 6749. */
const scopeToken = textLike(
  /^[\x21\x23-\x5b\x5d-\x7e]{1,256}$/,
  "the name of a scope: 1 to 256 printable ASCII characters without space, quotation mark and backslash",
);
const algorithm = oneOf(tokenAlgorithms, `one of ${tokenAlgorithms.join(", ")}`);

/** The settings of every command that opens a runtime. */
const runtimeTable = {
  data: setting(folderName, "the data folder", "data"),
  store: {
    ...optionalSetting(databaseUrl, "a PostgreSQL database that keeps users' memory", "the data folder keeps it"),
    isHidden: true,
  },
  connectionsMax: setting(whole(1, 1_000), "how many connections to the database there may be at a time", 10),
  mounts: setting(listOf("mounts", mount, "SCOPE=DIR"), "folders to use as scopes of the one user", []),
  policy: optionalSetting(
    fileName,
    "the policy file: what the host is willing to grant",
    "what the tools of the package need",
  ),
  readOnly: setting(onOrOff, "offers only what changes nothing, and writes nothing into users' folders", false),
  auditLog: optionalSetting(fileName, "the audit log file", "no audit log"),
  plugins: setting(
    someOf("files-or-names", fileName, "plugin files, or names of plugins"),
    "the plugins to load: plugin files, or names of plugins in the package",
    defaultPlugins,
  ),
  detectCredentials: setting(
    onOrOff,
    "a write with an API key, a token or another credential in it waits for the owner of the memory",
    false,
  ),
  durability: setting(
    oneOf(["full", "relaxed"], "full, relaxed"),
    "full: acknowledged changes survive a power cut; relaxed: they survive only a crash of the process",
    "full",
  ),
  waitMs: setting(timeMs, "how long a call may wait for its turn, in milliseconds", queueLimits.waitMs),
  deadlineMs: optionalSetting(
    timeMs,
    "how long a tool may run, in milliseconds; can only lower the limit of plugin and policy",
    "what plugin and policy say",
  ),
  threadsMax: optionalSetting(
    whole(1, 1_024),
    "threads that run tools in memcell serve; other commands use one",
    "one for each core",
  ),
};

/** The settings of `memcell serve`, which `serve-settings.ts` converts to server options. */
const serveTable = {
  "serve.user": optionalSetting(user, "the one user that is served without tokens", "nobody"),
  "serve.sharingByModels": setting(onOrOff, "models may share the store of their user with others", false),
  "serve.originClass": setting(
    originClass,
    "how far clients are trusted at most, if no token and no list says: a class of origin",
    "unstated",
  ),
  "serve.http": setting(onOrOff, "serves over HTTP instead of standard input and output", false),
  "serve.host": setting(host, "the address to listen on", "127.0.0.1"),
  "serve.port": setting(whole(0, 65_535), "the port to listen on; 0 picks a free port", 7391),
  "serve.path": setting(path, "the URL path of the MCP endpoint", "/mcp"),
  "serve.allowedHosts": setting(
    listOf("texts", hostHeader, "hosts' names"),
    "names that a Host header may have, besides serve.host and the host of serve.publicUrl",
    [],
  ),
  "serve.allowedOrigins": setting(
    listOf("texts", origin, "origins"),
    "origins of web pages that may send requests",
    [],
  ),
  "serve.publicUrl": optionalSetting(url, "the URL where clients reach the server", "none"),
  "serve.storage": setting(onOrOff, "adds the storage routes for agents of a platform, /api/storage/", false),
  "serve.agentKeys": optionalSetting(
    fileName,
    "the file with the hashes of the keys that agents send in X-API-Key to the storage routes",
    "such keys are refused",
  ),
  "serve.internalValues": setting(
    onOrOff,
    "the storage routes return to programs what they have set out of sight of models",
    false,
  ),
  "serve.page": setting(onOrOff, "adds a page where people see and correct what is remembered of them, /memory", false),
  "serve.pageClient": optionalSetting(plainText, "the id under which the issuer knows the page", "none"),
  "serve.pageClientSecret": optionalSetting(
    fileName,
    "the file with the secret of the page's client",
    "the client has none",
  ),
  "serve.pageKey": optionalSetting(
    fileName,
    "the file with the key that seals the cookies of the page: 32 bytes in Base64; all servers of a page have the same",
    "none",
  ),
  "serve.bodyBytesMax": setting(whole(1_024, 67_108_864), "the largest request body, in bytes", 1_048_576),
  "serve.requestsPerMinute": setting(whole(1, 1_000_000), "requests that one user may send in a minute", 600),
  "serve.streamsPerUserMax": setting(whole(1, 10_000), "streams that one user may have open at once", 32),
  "serve.closeGraceMs": setting(
    timeMs,
    "how long running requests may continue when the server stops, in milliseconds",
    closingLimits.graceMs,
  ),
  "serve.metrics": optionalSetting(
    address,
    "the address and the port that serve metrics for Prometheus at /metrics, without a token",
    "no metrics",
  ),
  "serve.auth.issuer": optionalSetting(plainText, "the only issuer (iss) whose tokens are accepted", "no tokens"),
  "serve.auth.audience": optionalSetting(plainText, "the only audience (aud) whose tokens are accepted", "no tokens"),
  "serve.auth.clientsWithoutAudience": setting(
    listOf("texts", plainText, "ids of clients"),
    "clients whose tokens need no aud, by serve.auth.clientClaim: of issuers that leave it out, such as Amazon Cognito",
    [],
  ),
  "serve.auth.jwks": optionalSetting(fileOrUrl, "the key set that verifies tokens: a file or a URL", "none"),
  "serve.auth.publicKey": optionalSetting(fileName, "the public key that verifies tokens: a PEM file", "none"),
  "serve.auth.userClaim": setting(plainText, "the claim that holds the user's id", "sub"),
  "serve.auth.requireScopes": setting(onOrOff, "tokens need a scope: one to read, another to read and write", false),
  "serve.auth.scopeClaim": setting(
    plainText,
    "the claim that holds the scopes: a text, or an array as in scp",
    "scope",
  ),
  "serve.auth.readScope": setting(scopeToken, "the scope of a token that may only read", "memcell:read"),
  "serve.auth.writeScope": setting(scopeToken, "the scope of a token that may read and write", "memcell:write"),
  "serve.auth.ownerScope": setting(
    scopeToken,
    "the scope with which people may change something on the page",
    "memcell:owner",
  ),
  "serve.auth.clientClaim": setting(plainText, "the claim that names the client", "client_id"),
  "serve.auth.clientOrigins": setting(
    listOf("texts", clientOrigin, "clients and their classes"),
    "how far clients are trusted at most, by serve.auth.clientClaim: CLIENT=CLASS",
    [],
  ),
  "serve.auth.originClaim": optionalSetting(
    plainText,
    "the claim that says how far the token's client is trusted at most: a class of origin",
    "no claim says it",
  ),
  "serve.auth.algorithms": setting(
    someOf("texts", algorithm, "names of algorithms"),
    "the signature algorithms that a token may have",
    tokenAlgorithms,
  ),
  "serve.auth.clockToleranceS": setting(whole(0, 300), "how far clocks may differ, in seconds", 5),
};

const table = { ...runtimeTable, ...serveTable };

/** A setting's name: its path in the config file. */
export type SettingPath = keyof typeof table;

/** Each setting with its value. */
export type SettingValues = { readonly [Path in SettingPath]: (typeof table)[Path]["default"] };

export const settingPaths = Object.keys(table) as readonly SettingPath[];

/** The flags of `memcell call` and similar commands. They use one thread, so they do not accept `threadsMax`. */
export const runtimePaths = settingPaths.filter((each) => each in runtimeTable && each !== "threadsMax");

/** The flags of `memcell tools`. It reads no user's data and writes no log. */
export const catalogPaths: readonly SettingPath[] = ["policy", "readOnly", "plugins"];

export function settingAt(at: SettingPath): Setting {
  return table[at];
}

/** The flag of `serve.allowedHosts` is `--allowed-host`: the last part of the path, in the singular for a list. */
export function flagOf(at: SettingPath): string {
  const name = flagName(at.slice(at.lastIndexOf(".") + 1));
  return isListed(settingAt(at).form) ? name.replace(/s$/, "") : name;
}

/** `olderThan` becomes `older-than`. */
export const flagName = (name: string): string => wordsOf(name).join("-");

/** The variable of `serve.allowedHosts` is `MEMCELL_SERVE_ALLOWED_HOSTS`. */
export function variableOf(at: SettingPath): string {
  return `MEMCELL_${at.split(".").flatMap(wordsOf).join("_").toUpperCase()}`;
}

function wordsOf(name: string): string[] {
  return name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`).split(" ");
}

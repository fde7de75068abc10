/** All that can be configured, in one table: whatever reads, prints or documents settings goes by it. */
import { closingLimits, queueLimits } from "../../shared/limits.ts";
import { tokenAlgorithms } from "../serve/serve-options.ts";
import { isUserId, userIdsAllowed } from "../values/user-id.ts";
import { fileName, folderName, isListed, isName, listOf, onOrOff, oneOf, optionalSetting } from "./setting.ts";
import { plainText, readMount, setting, someOf, textLike, textThat, timeMs, whole } from "./setting.ts";
import type { Setting } from "./setting.ts";
import { isOrigin, isSafeUrl, isUrl } from "./web-address.ts";

const mount = textThat((text) => readMount(text) !== null, 'SCOPE=DIR, as in "notes=../notes"');
const user = textThat(isUserId, `the id of a user, ${userIdsAllowed} (USER_INVALID)`);
const host = textLike(/^[A-Za-z0-9.:-]{1,253}$/, "an IP address or a host's name, without a port");
const hostHeader = textLike(/^(?:[A-Za-z0-9.-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])$/, "a host's name without a port");
const path = textLike(
  /^\/$|^(?:\/[A-Za-z0-9_~-][A-Za-z0-9._~-]{0,63}){1,8}$/,
  'a path of a URL, as in "/mcp", without a "/" at its end',
);
const origin = textThat(isOrigin, 'an origin, as in "https://app.example"');
const url = textThat(isSafeUrl, "an https: URL, or http: on a loopback address");
const fileOrUrl = textThat(
  (text) => (isUrl(text) ? isSafeUrl(text) : isName(text)),
  "the name of a file, an https: URL, or http: on a loopback address",
  "file-or-url",
);
const algorithm = oneOf(tokenAlgorithms, `one of ${tokenAlgorithms.join(", ")}`);

/** The settings of whatever opens a runtime. */
const runtimeTable = {
  data: setting(folderName, "the data folder", "data"),
  mounts: setting(listOf("mounts", mount, "SCOPE=DIR"), "folders that each stand for a scope of the one user", []),
  policy: optionalSetting(fileName, "what the host is willing to grant", "what the tools of the package need"),
  auditLog: optionalSetting(fileName, "where to record what is done", "nowhere"),
  plugins: optionalSetting(
    someOf("files-or-names", fileName, "plugin files, or names of plugins"),
    "the plugins to load: files, or names of those that come with the package",
    "all that come with the package",
  ),
  durability: setting(
    oneOf(["full", "relaxed"], "full, relaxed"),
    "full: what is acknowledged survives a power cut; relaxed: the death of the process",
    "full",
  ),
  waitMs: setting(timeMs, "how long a call may wait for its turn, in milliseconds", queueLimits.waitMs),
  deadlineMs: optionalSetting(
    timeMs,
    "how long a tool may run, in milliseconds; it only lowers",
    "what plugin and policy say",
  ),
  threadsMax: optionalSetting(
    whole(1, 1_024),
    "threads that run tools in memcell serve; other commands take one",
    "one for each core",
  ),
};

/** The settings of `memcell serve`, which `serve-settings.ts` makes into what the servers take. */
const serveTable = {
  "serve.user": optionalSetting(user, "the one user that is served, without tokens", "nobody"),
  "serve.http": setting(onOrOff, "serves over HTTP, and not over standard input and output", false),
  "serve.host": setting(host, "the address to listen on", "127.0.0.1"),
  "serve.port": setting(whole(0, 65_535), "the port to listen on; 0 takes a free one", 7391),
  "serve.path": setting(path, "where MCP is spoken", "/mcp"),
  "serve.allowedHosts": setting(
    listOf("texts", hostHeader, "hosts' names"),
    "names that a Host header may have besides serve.host and that of serve.publicUrl",
    [],
  ),
  "serve.allowedOrigins": setting(listOf("texts", origin, "origins"), "origins of browsers' pages that may ask", []),
  "serve.publicUrl": optionalSetting(url, "the URL by which clients reach the server", "not told"),
  "serve.bodyBytesMax": setting(whole(1_024, 67_108_864), "the largest body of a request, in bytes", 1_048_576),
  "serve.requestsPerMinute": setting(whole(1, 1_000_000), "requests of one user in a minute", 600),
  "serve.sessionsPerUserMax": setting(whole(1, 10_000), "sessions and streams of one user that are open at once", 32),
  "serve.sessionIdleMs": setting(timeMs, "how long a session may be unused, in milliseconds", 1_800_000),
  "serve.closeGraceMs": setting(
    timeMs,
    "how long requests may go on when the server ends, in milliseconds",
    closingLimits.graceMs,
  ),
  "serve.auth.issuer": optionalSetting(plainText, "who issues the tokens: their one iss", "no tokens"),
  "serve.auth.audience": optionalSetting(plainText, "whom the tokens are for: their one aud", "no tokens"),
  "serve.auth.jwks": optionalSetting(fileOrUrl, "the key set that tokens are verified with: a file, or a URL", "none"),
  "serve.auth.publicKey": optionalSetting(fileName, "the public key that tokens are verified with: a PEM file", "none"),
  "serve.auth.userClaim": setting(plainText, "the claim that holds the user's id", "sub"),
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

/** What `memcell call` and its like take as flags: for a single call more threads than one are none. */
export const runtimePaths = settingPaths.filter((each) => each in runtimeTable && each !== "threadsMax");

/** What `memcell tools` takes: it touches nobody's data, and leaves the log to those who do. */
export const catalogPaths: readonly SettingPath[] = ["policy", "plugins"];

export function settingAt(at: SettingPath): Setting {
  return table[at];
}

/** `serve.allowedHosts` is `--allowed-host`: the last name, and one of what a list has many of. */
export function flagOf(at: SettingPath): string {
  const name = flagName(at.slice(at.lastIndexOf(".") + 1));
  return isListed(settingAt(at).form) ? name.replace(/s$/, "") : name;
}

/** `olderThan` is `older-than`. */
export const flagName = (name: string): string => wordsOf(name).join("-");

/** `serve.allowedHosts` is `MEMCELL_SERVE_ALLOWED_HOSTS`. */
export function variableOf(at: SettingPath): string {
  return `MEMCELL_${at.split(".").flatMap(wordsOf).join("_").toUpperCase()}`;
}

function wordsOf(name: string): string[] {
  return name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`).split(" ");
}

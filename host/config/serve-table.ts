/** The settings of `memcell serve`, which `serve-settings.ts` makes into what the servers take. */
import { closingLimits } from "../../shared/limits.ts";
import * as z from "../../shared/zod.ts";
import { tokenAlgorithms } from "../serve/serve-options.ts";
import { isUserId, userIdsAllowed } from "../values/user-id.ts";
import type { Setting } from "./setting.ts";
import { fileName, listOf, plainText, someOf, textLike, textThat, timeMs, wholeNumber } from "./value-schemas.ts";
import { isOrigin, isSafeUrl, isUrl } from "./web-address.ts";

export const serveTable = {
  "serve.user": {
    form: "text",
    schema: () => textThat(isUserId, `the id of a user, ${userIdsAllowed} (USER_INVALID)`),
    default: null,
    unset: "nobody",
    meaning: "the one user that is served, without tokens",
  },
  "serve.http": {
    form: "switch",
    schema: () => z.boolean("true or false"),
    default: false,
    meaning: "serves over HTTP, and not over standard input and output",
  },
  "serve.host": {
    form: "text",
    schema: () => textLike(/^[A-Za-z0-9.:-]{1,253}$/, "an IP address or a host's name, without a port"),
    default: "127.0.0.1",
    meaning: "the address to listen on",
  },
  "serve.port": {
    form: "number",
    schema: () => wholeNumber(0, 65_535),
    default: 7391,
    meaning: "the port to listen on; 0 takes a free one",
  },
  "serve.path": {
    form: "text",
    schema: () =>
      textLike(
        /^\/$|^(?:\/[A-Za-z0-9_~-][A-Za-z0-9._~-]{0,63}){1,8}$/,
        'a path of a URL, as in "/mcp", without a "/" at its end',
      ),
    default: "/mcp",
    meaning: "where MCP is spoken",
  },
  "serve.allowedHosts": {
    form: "texts",
    schema: () =>
      listOf(
        textLike(/^(?:[A-Za-z0-9.-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])$/, "a host's name without a port"),
        "hosts' names",
      ),
    default: [],
    meaning: "names that a Host header may have besides serve.host and that of serve.publicUrl",
  },
  "serve.allowedOrigins": {
    form: "texts",
    schema: () => listOf(textThat(isOrigin, 'an origin, as in "https://app.example"'), "origins"),
    default: [],
    meaning: "origins of browsers' pages that may ask",
  },
  "serve.publicUrl": {
    form: "text",
    schema: () => textThat(isSafeUrl, "an https: URL, or http: on a loopback address"),
    default: null,
    unset: "not told",
    meaning: "the URL by which clients reach the server",
  },
  "serve.bodyBytesMax": {
    form: "number",
    schema: () => wholeNumber(1_024, 67_108_864),
    default: 1_048_576,
    meaning: "the largest body of a request, in bytes",
  },
  "serve.requestsPerMinute": {
    form: "number",
    schema: () => wholeNumber(1, 1_000_000),
    default: 600,
    meaning: "requests of one user in a minute",
  },
  "serve.sessionsPerUserMax": {
    form: "number",
    schema: () => wholeNumber(1, 10_000),
    default: 32,
    meaning: "sessions and streams of one user that are open at once",
  },
  "serve.sessionIdleMs": {
    form: "number",
    schema: timeMs,
    default: 1_800_000,
    meaning: "how long a session may be unused, in milliseconds",
  },
  "serve.closeGraceMs": {
    form: "number",
    schema: timeMs,
    default: closingLimits.graceMs,
    meaning: "how long requests may go on when the server ends, in milliseconds",
  },
  "serve.auth.issuer": {
    form: "text",
    schema: plainText,
    default: null,
    unset: "no tokens",
    meaning: "who issues the tokens: their one iss",
  },
  "serve.auth.audience": {
    form: "text",
    schema: plainText,
    default: null,
    unset: "no tokens",
    meaning: "whom the tokens are for: their one aud",
  },
  "serve.auth.jwks": {
    form: "file-or-url",
    schema: () => textThat(isFileOrSafeUrl, "the name of a file, an https: URL, or http: on a loopback address"),
    default: null,
    unset: "none",
    meaning: "the key set that tokens are verified with: a file, or a URL",
  },
  "serve.auth.publicKey": {
    form: "file",
    schema: fileName,
    default: null,
    unset: "none",
    meaning: "the public key that tokens are verified with: a PEM file",
  },
  "serve.auth.userClaim": {
    form: "text",
    schema: plainText,
    default: "sub",
    meaning: "the claim that holds the user's id",
  },
  "serve.auth.algorithms": {
    form: "texts",
    schema: () => someOf(z.enum(tokenAlgorithms, `one of ${tokenAlgorithms.join(", ")}`), "names of algorithms"),
    default: tokenAlgorithms,
    meaning: "the signature algorithms that a token may have",
  },
  "serve.auth.clockToleranceS": {
    form: "number",
    schema: () => wholeNumber(0, 300),
    default: 5,
    meaning: "how far clocks may differ, in seconds",
  },
} as const satisfies Record<string, Setting>;

function isFileOrSafeUrl(text: string): boolean {
  return isUrl(text) ? isSafeUrl(text) : z.safeParse(fileName(), text).success;
}

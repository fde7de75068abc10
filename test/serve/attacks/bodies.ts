/** Messages that two parsers would read differently, and invalid bodies. All are sent in alice's session. */
import { gzipSync } from "node:zlib";

import { rawInSession, withHeaders } from "./asking.ts";
import type { HeaderLine } from "./asking.ts";
import { asAlice, refused, row } from "./attack.ts";
import type { Attack, Expected } from "./attack.ts";
import type { Victim } from "./stage.ts";

type MakeBody = (victim: Victim) => string | Buffer;

const body = (title: string, expected: Expected, make: MakeBody, ...headers: readonly HeaderLine[]): Attack =>
  row(title, expected, (victim, { alice }) => withHeaders(rawInSession(alice.session, make(victim)), ...headers));

const unfit = refused(400, "body-unfit");
const noMessage = refused(400, "body-no-message");
const wrongType = refused(415, "body-type");

const params = '{"name":"ReadUserMemory","arguments":{"name":"plan"}}';
const plain = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${params}}`;
/** The plain message with one part replaced. */
const but =
  (part: string, make: (victim: Victim) => string): MakeBody =>
  (victim) =>
    plain.replace(part, () => make(victim));

const twice: Attack[] = [
  body(
    "method twice",
    unfit,
    but('"method"', () => '"method":"ping","method"'),
  ),
  body(
    "jsonrpc twice",
    unfit,
    but('"jsonrpc"', () => '"jsonrpc":"1.0","jsonrpc"'),
  ),
  body(
    "id twice",
    unfit,
    but('"id"', () => '"id":2,"id"'),
  ),
  body(
    "params twice",
    unfit,
    but('"params"', ({ userId }) => `"params":{"userId":"${userId}"},"params"`),
  ),
  body(
    "the tool's name twice",
    unfit,
    but('"name":"Read', () => '"name":"PromptIndex","name":"Read'),
  ),
  body(
    "arguments twice",
    unfit,
    but('"arguments"', ({ entry }) => `"arguments":{"name":"${entry}"},"arguments"`),
  ),
  body(
    "the entry's name twice",
    unfit,
    but('{"name":"plan"', ({ entry }) => `{"name":"${entry}","name":"plan"`),
  ),
  body(
    "the entry's name twice, once in escapes",
    unfit,
    but('{"name":"plan"', ({ entry }) => `{"n\\u0061me":"${entry}","name":"plan"`),
  ),
  body(
    "method twice, once in escapes",
    unfit,
    but('"method"', () => '"\\u006dethod":"ping","method"'),
  ),
  body(
    "a key twice, deep in the arguments",
    unfit,
    but('"name":"plan"', ({ userId }) => `"name":"plan","x":[{"y":{"user":"${userId}","user":"alice"}}]`),
  ),
  body(
    "__proto__ in the arguments",
    unfit,
    but('"name":"plan"', ({ userId }) => `"name":"plan","__proto__":{"userId":"${userId}"}`),
  ),
  body(
    "__proto__ in params",
    unfit,
    but('"arguments"', ({ userId }) => `"__proto__":{"userId":"${userId}"},"arguments"`),
  ),
  body(
    "__proto__ of the message",
    unfit,
    but('"id"', ({ userId }) => `"__proto__":{"userId":"${userId}"},"id"`),
  ),
  body(
    "__proto__ in escapes",
    unfit,
    but('"id"', ({ userId }) => `"\\u005f_proto__":{"userId":"${userId}"},"id"`),
  ),
];

const noObjects: Attack[] = [
  body("a batch", noMessage, () => `[${plain}]`),
  body("a batch of two", noMessage, ({ entry }) => `[${plain},${plain.replace("plan", entry)}]`),
  body("an empty batch", noMessage, () => "[]"),
  ...["1", '"tools/call"', "null", "true"].map((text) => body(`the message ${text}`, noMessage, () => text)),
  ...['{"a":1}', "[1]", "null", "1.5", "1e400", "true", `"${"x".repeat(129)}"`].map((id) =>
    body(
      `an id that is ${id.slice(0, 12)}`,
      noMessage,
      but('"id":1', () => `"id":${id}`),
    ),
  ),
  body("nothing", unfit, () => ""),
  body("two messages", unfit, () => `${plain}${plain}`),
  body("two messages in lines", unfit, () => `${plain}\n${plain}`),
  body("text after the message", unfit, ({ userId }) => `${plain}#${userId}`),
  body("a comma at the end", unfit, () => plain.replace(/\}$/, ",}")),
  body("a comment", unfit, () => `/* */${plain}`),
  body("single quotes", unfit, () => plain.replaceAll('"', "'")),
  body("NUL before the message", unfit, () => `\0${plain}`),
  body("NUL in a text", unfit, () => plain.replace("plan", "plan\0")),
  body(
    "65 levels",
    unfit,
    but('"name":"plan"', () => `"name":"plan","x":${"[".repeat(65)}${"]".repeat(65)}`),
  ),
  body("100,000 levels", unfit, () => "[".repeat(100_000)),
];

const encodings: Attack[] = [
  body("a byte order mark", unfit, () => `\ufeff${plain}`),
  body("UTF-16", unfit, () => Buffer.from(plain, "utf16le")),
  body("UTF-16 with its mark", unfit, () => Buffer.from(`\ufeff${plain}`, "utf16le")),
  body("an overlong slash", unfit, () => Buffer.from(plain.replace("plan", "..\xc0\xaf.."), "latin1")),
  body("an overlong quotation mark", unfit, () =>
    Buffer.from(plain.replace("plan", 'plan\xc0\xa2,"userId":"x'), "latin1"),
  ),
  body("half a surrogate pair", unfit, () => Buffer.from(plain.replace("plan", "plan\xed\xa0\x80"), "latin1")),
  body("a byte that is not UTF-8", unfit, () => Buffer.from(plain.replace("plan", "plan\xff"), "latin1")),
  ...["utf-7", "utf-16", "iso-8859-1", "utf-8;charset=utf-7", "'utf-8'"].map((charset) =>
    body(`the charset ${charset}`, wrongType, () => plain, ["Content-Type", `application/json; charset=${charset}`]),
  ),
  body("the charset utf-8", asAlice, () => plain, ["Content-Type", "Application/JSON; charset=UTF-8"]),
  ...[
    "text/plain",
    "text/json",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "application/json, text/plain",
    "application/json-rpc",
    "application/vnd.api+json",
    "application/jsonp",
    "",
    "application/json;a=b",
  ].map((type) => body(`the type ${JSON.stringify(type)}`, wrongType, () => plain, ["Content-Type", type])),
  body("gzip", wrongType, () => gzipSync(plain), ["Content-Encoding", "gzip"]),
  body("a false gzip header", wrongType, () => plain, ["Content-Encoding", "gzip"]),
  body("the encoding identity", wrongType, () => plain, ["Content-Encoding", "identity"]),
  body("gzip without a header", unfit, () => gzipSync(plain)),
];

const large = "x".repeat(1_048_577);

const sizes: Attack[] = [
  body("too large by its declared length", refused(413, "body-too-large"), () => `"${large}"`),
  body(
    "too large, in chunks",
    refused(413, "body-too-large"),
    () => `${large.length.toString(16)}\r\n${large}\r\n0\r\n\r\n`,
    ["Transfer-Encoding", "chunked"],
  ),
  body("an enormous length", refused(413, "body-too-large"), () => plain, ["Content-Length", "999999999999"]),
];

export const bodyAttacks: readonly Attack[] = [...twice, ...noObjects, ...encodings, ...sizes];

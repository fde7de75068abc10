/** Messages that two parsers would read differently, and invalid bodies. All are sent in alice's session. */
import { gzipSync } from "node:zlib";

import { rawInSession, withHeaders } from "./asking.ts";
import type { HeaderLine } from "./asking.ts";
import { asAlice, refused, row, served } from "./attack.ts";
import type { Attack, Expected } from "./attack.ts";
import { aliceBody } from "./stage.ts";

const body = (title: string, expected: Expected, text: string | Buffer, ...headers: readonly HeaderLine[]): Attack =>
  row(title, expected, withHeaders(rawInSession(text), ...headers));

const unfit = refused("body-unfit", "alice");
const noMessage = refused("body-no-message", "alice");
const wrongType = refused("body-type", "alice");
const tooLarge = refused("body-too-large", "alice");

const params = '{"name":"ReadUserMemory","arguments":{"name":"plan"}}';
const plain = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${params}}`;
const latin1 = (plan: string): Buffer => Buffer.from(plain.replace("plan", plan), "latin1");

/** A part of the plain message, and what stands there instead. */
const instead: readonly (readonly [title: string, part: string, replacement: string])[] = [
  ["method twice", '"method"', '"method":"ping","method"'],
  ["params twice", '"params"', '"params":{"userId":"$user"},"params"'],
  ["the entry's name twice", '{"name":"plan"', '{"name":"$entry","name":"plan"'],
  ["the entry's name twice, once in escapes", '{"name":"plan"', '{"n\\u0061me":"$entry","name":"plan"'],
  ["a key twice, deep inside", '"name":"plan"', '"name":"plan","x":[{"y":{"user":"$user","user":"alice"}}]'],
  ["__proto__ in the arguments", '"name":"plan"', '"name":"plan","__proto__":{"userId":"$user"}'],
  ["__proto__ of the message", '"id"', '"__proto__":{"userId":"$user"},"id"'],
  ["__proto__ in escapes", '"id"', '"\\u005f_proto__":{"userId":"$user"},"id"'],
  ["65 levels", '"name":"plan"', `"name":"plan","x":${"[".repeat(65)}${"]".repeat(65)}`],
];

/** Not one JSON text. */
const broken: readonly (readonly [title: string, text: string | Buffer])[] = [
  ["nothing", ""],
  ["a bracket", "{"],
  ["two messages", `${plain}${plain}`],
  ["text after the message", `${plain}#$user`],
  ["NUL in a text", plain.replace("plan", "plan\0")],
  ["100,000 levels", "[".repeat(100_000)],
  ["8,193 values", JSON.stringify(Array(8_193).fill(0))],
  ["a byte order mark", `\ufeff${plain}`],
  ["UTF-16 with its mark", Buffer.from(`\ufeff${plain}`, "utf16le")],
  ["an overlong slash", latin1("..\xc0\xaf..")],
  ["half a surrogate pair", latin1("plan\xed\xa0\x80")],
  ["gzip without a header", gzipSync(plain)],
];

const ids = ['{"a":1}', "null", "1.5", "1e400", `"${"x".repeat(129)}"`];

const withBatches: HeaderLine = ["Mcp-Protocol-Version", "2025-03-26"];

const noMessages: Attack[] = [
  body("a batch with the handshake", noMessage, `[${plain},${plain.replace("tools/call", "initialize")}]`, withBatches),
  body("a batch of 33", noMessage, `[${Array(33).fill(plain).join()}]`),
  body("a batch with an id that is none", noMessage, `[${plain},${plain.replace('"id":1', '"id":{}')}]`),
  ...["[]", "[[]]", '["tools/call"]', '"tools/call"', "null"].map((text) =>
    body(`the message ${text}`, noMessage, text),
  ),
  ...ids.map((id) => body(`an id that is ${id.slice(0, 12)}`, noMessage, plain.replace('"id":1', `"id":${id}`))),
];

const types = [
  "application/json; charset=utf-7",
  "application/json; charset=utf-8;charset=utf-7",
  "text/plain",
  "application/x-www-form-urlencoded",
  "application/json, text/plain",
  "application/json-rpc",
  "",
  'application/json; charset="utf-8',
  'application/json; charset="utf-7"',
  "application/json; charset =utf-8",
  "application/json; charset=utf-16",
  "application/json; charset",
  "application/json charset=utf-8",
  "application/json;charset=utf-8, text/plain",
];

/** RFC 9110 allows white space around semicolons, empty parameters, and quotation marks around values. */
const goodTypes = [
  "Application/JSON; charset=UTF-8",
  "application/json;\t charset=utf-8 ",
  'application/json ;  charset="UTF-8";',
  'application/json;;a=b; c="d;charset=x\\""',
];

/** Each message of a batch is alice's. */
const ofBoth = served(200, ["call ReadUserMemory alice done", "call ReadUserMemory alice ENTRY_NOT_FOUND"], aliceBody);

const large = "x".repeat(1_048_577);

const typesAndSizes: Attack[] = [
  ...types.map((type) => body(`the type ${JSON.stringify(type)}`, wrongType, plain, ["Content-Type", type])),
  ...goodTypes.map((type) => body(`the type ${JSON.stringify(type)}`, asAlice, plain, ["Content-Type", type])),
  body("a batch with the victim's entry", ofBoth, `[${plain},${plain.replace("plan", "$entry")}]`, withBatches),
  body("the same in a revision without batches", refused("batch-removed", "alice"), `[${plain},${plain}]`),
  body("gzip", wrongType, gzipSync(plain), ["Content-Encoding", "gzip"]),
  body("the encoding identity", wrongType, plain, ["Content-Encoding", "identity"]),
  body("too large by its declared length", tooLarge, `"${large}"`),
  body("too large, in chunks", tooLarge, `${large.length.toString(16)}\r\n${large}\r\n0\r\n\r\n`, [
    "Transfer-Encoding",
    "chunked",
  ]),
  body("an enormous length", tooLarge, plain, ["Content-Length", "999999999999"]),
];

export const bodyAttacks: readonly Attack[] = [
  ...instead.map(([title, part, replacement]) =>
    body(
      title,
      unfit,
      plain.replace(part, () => replacement),
    ),
  ),
  ...broken.map(([title, text]) => body(title, unfit, text)),
  ...noMessages,
  ...typesAndSizes,
];

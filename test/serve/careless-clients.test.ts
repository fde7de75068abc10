/**
 * What clients in the wild send and what the protocols allow, over real lines and real HTTP: arguments as text, headers with
 * odd spaces, lines that are no messages. Each gets what it asks for, or an answer that says what is wrong.
 */
import { join } from "node:path";

import { InMemoryTransport } from "@modelcontextprotocol/client";
import fc from "fast-check";
import { mcpServer } from "memcell/mcp";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";

import { handshake, legacyRequest, modernRequest } from "../stage/http-requests.ts";
import type { Asked } from "../stage/http-requests.ts";
import { openHttpStage } from "../stage/http.ts";
import type { HttpStage } from "../stage/http.ts";
import { runs } from "../stage/random-runs.ts";
import { ServeLines, serveHere } from "../stage/serve-lines.ts";
import type { Reply } from "../stage/serve-lines.ts";

let stage: HttpStage;
let alice: string;
let lines: ServeLines;
const args = (folder: string): string[] => ["--user", "alice", "--data", folder, ...loaded];
const loaded = ["user-memory", "journal", "run-history", "stores"].flatMap((name) => ["--plugin", name]);
beforeAll(async () => {
  stage = await openHttpStage();
  alice = await stage.issuer.token("alice");
  lines = await ServeLines.open(args(join(stage.folder, "lines")));
});
beforeEach(() => stage.forget());
afterAll(async () => {
  lines.wires.stdin.end();
  expect(await lines.ended).toMatchObject({ code: 0, stderr: "" });
  await stage[Symbol.asyncDispose]();
});

const parsed = async (asked: Asked): Promise<Reply> => JSON.parse((await stage.ask(asked)).body) as Reply;

/** One tool call, in each way in which clients make it. */
const ways: Readonly<Record<string, (name: string, input: unknown) => Promise<Reply>>> = {
  "standard input and output": (name, input) => lines.call(name, input),
  "transports in the same process": inProcess,
  "HTTP, in 2025": (name, input) =>
    parsed(legacyRequest(alice, { id: 1, method: "tools/call", params: { name, arguments: input } })),
  "HTTP, in 2026": (name, input) =>
    parsed(modernRequest(alice, "tools/call", { params: { name, arguments: input }, asked: {} })),
};

/** Over a pair of transports, as frameworks connect. */
async function inProcess(name: string, input: unknown): Promise<Reply> {
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  await mcpServer(stage.runtime, { userId: "in-process" }).connect(ours);
  const replied = new Promise<Reply>((resolve) => {
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- a transport is no EventTarget
    theirs.onmessage = (message) => "id" in message && message.id === 1 && resolve(message as Reply);
  });
  await theirs.start();
  const call = { id: 1, method: "tools/call", params: { name, arguments: input } };
  for (const message of [handshake, call]) await theirs.send({ jsonrpc: "2.0", ...message });
  const reply = await replied;
  await theirs.close();
  return reply;
}

const path = "/memories/list";
const run = { agentId: "a", runId: "r" };

/** Each is answered without an error, and the answer has the text. */
const calls: readonly (readonly [tool: string, input: unknown, says: string])[] = [
  [
    "UpdateUserMemory",
    { action: "upsert", name: "a", type: "user", description: "5", body: "[]", ifUpdated: null },
    '"a"',
  ],
  ["SearchUserMemory", null, "1 entry"],
  ["SearchUserMemory", { query: "", type: "", cursor: "" }, "1 entry"],
  [
    "UpdateUserMemory",
    { action: "delete", name: "a", type: "", description: null, body: "", ifUpdated: null },
    "deleted",
  ],
  ["memory_write", { key: "k", content: "true", tags: '["ops"]', target: "" }, '"k" written'],
  ["memory_search", { query: "true", limit: "5", tags: '["ops"]', match: "" }, "1 block"],
  ["memory_search", { query: "true", limit: "", tags: "[]", match: null }, "1 block"],
  ["memory_update", { key: "k", content: "5", tags: "null" }, '"k" updated'],
  ["ReadRunHistory", { ...run, types: '["thinking"]', last: "3", charsMax: "" }, "0 events"],
  ["memory", { command: "create", path, content: "[1, 2]", ttl: "3600" }, "Created"],
  ["memory", { command: "search", query: "2", content: "", old_str: "", new_str: null, ttl: 0, path: "" }, path],
  ["memory", { command: "view", path, content: null, old_str: "", ttl: 0 }, "[1, 2]"],
  ["memory", { command: "rename", old_path: path, new_path: "/memories/b" }, "Renamed"],
  ["memory", { command: "create", path: "/memories/c", file_text: "5", content: "" }, "Created"],
  ["memory", { command: "delete", path: "/memories/b", query: "", agent: "", level: "" }, "Deleted"],
  ["memory", { command: "delete", path: "/memories/c" }, "Deleted"],
  ["memory", { command: "stores", path: "", content: "", ttl: 0 }, "self"],
];

test.for(Object.entries(ways))("over %s, arguments are read as what they can only mean", async ([way, call]) => {
  for (const [tool, input, says] of calls) {
    // Each way has an entry of its own.
    const named = JSON.parse(JSON.stringify(input).replaceAll('"k"', JSON.stringify(`k ${way}`))) as unknown;
    const reply = await call(tool, named);
    expect({ tool, input, error: reply.error, isError: reply.result?.isError }).toEqual({ tool, input });
    expect(reply.result?.content?.[0]?.text).toContain(says.replace('"k"', JSON.stringify(`k ${way}`)));
  }
});

/** A value and what clients make of it. */
const written = fc.oneof(
  fc.integer({ min: 1, max: 100 }).map((limit) => ({ limit })),
  fc.uniqueArray(fc.constantFrom("a", "5", "true", "[]", "x y")).map((tags) => ({ tags })),
);
const carelessly = (value: unknown, spaces: number): string => JSON.stringify(value, null, spaces);

test("any number and any list as JSON text, with white space or without, finds what the value itself finds", async () => {
  await lines.call("memory_write", { key: "fuzz", content: "kumquat", tags: ["a", "5", "true", "[]", "x y"] });
  const found = async (more: object): Promise<unknown> =>
    (await lines.call("memory_search", { query: "kumquat", ...more })).result;
  await fc.assert(
    fc.asyncProperty(written, fc.nat({ max: 3 }), async (value, spaces) => {
      const texts = Object.entries(value).map(([name, each]) => [name, ` ${carelessly(each, spaces)}\n`] as const);
      expect(await found(Object.fromEntries(texts))).toEqual(await found(value));
    }),
    runs(30),
  );
});

const list = { id: 1, method: "tools/list" };
const token = (): string => alice;
const asked = (headers: Record<string, string>, more: Asked = {}): Asked =>
  legacyRequest(token(), list, { ...more, headers });

/** Each is served. */
const requests: readonly (readonly [what: string, asked: () => Asked])[] = [
  ["JSON alone", () => asked({ accept: "application/json" })],
  ["anything", () => asked({ accept: "*/*" })],
  ["another type", () => asked({ accept: "text/html" })],
  ["a stream alone", () => asked({ accept: "text/event-stream" })],
  ["nothing", () => without(asked({}), "accept")],
  [
    "JSON alone, in 2026",
    () => modernRequest(alice, "tools/list", { asked: { headers: { accept: "application/json" } } }),
  ],
  ["nothing, in 2026", () => without(modernRequest(alice, "tools/list"), "accept")],
  ["two spaces in the type", () => asked({ "content-type": "application/json;  charset=utf-8" })],
  ["a quoted charset in capitals", () => asked({ "content-type": 'Application/Json ;\tCharset="UTF-8" ;' })],
  ["another parameter", () => asked({ "content-type": "application/json; odata=verbose" })],
  ["two spaces before the token", () => asked({ authorization: `Bearer  ${alice}` })],
  ["a scheme in capitals", () => asked({ authorization: `BEARER ${alice}` })],
  ["a slash behind the path", () => asked({}, { path: "/mcp/" })],
  ["an unknown session", () => asked({ "mcp-session-id": "00000000-0000-0000-0000-000000000000" })],
  ["cursor null", () => legacyRequest(alice, { ...list, params: { cursor: null, _meta: null } })],
  ["params null", () => legacyRequest(alice, { ...list, params: null })],
];

const without = ({ headers, ...rest }: Asked, name: string): Asked => ({
  ...rest,
  headers: Object.fromEntries(Object.entries(headers ?? {}).filter(([each]) => each !== name)),
});

test.for(requests)("over HTTP, a request with %s is served with JSON", async ([, ask]) => {
  const { status, headers, body } = await stage.ask(ask());
  expect([status, headers["content-type"]]).toEqual([200, "application/json"]);
  expect(JSON.parse(body)).toMatchObject({ id: 1, result: { tools: expect.any(Array) as unknown } });
});

test("a handshake with the id of a former session is answered", async () => {
  const hello = legacyRequest(alice, handshake, { headers: { "mcp-session-id": "former" } });
  expect(await parsed(hello)).toMatchObject({ result: { serverInfo: { name: "memcell" } } });
});

test("a revision that has batches is agreed to, and its batches are answered in each way", async () => {
  const batch = [1, 2].map((each) => ({ jsonrpc: "2.0", id: `batch ${each}`, method: "ping" }));
  const hello = { ...handshake, params: { ...handshake.params, protocolVersion: "2025-03-26" } };
  expect(await parsed(legacyRequest(alice, hello))).toMatchObject({ result: { protocolVersion: "2025-03-26" } });
  const headers = { "mcp-protocol-version": "2025-03-26" };
  const answers = await parsed(legacyRequest(alice, {}, { body: JSON.stringify(batch), headers }));
  expect(answers).toMatchObject(batch.map(({ id }) => ({ id, result: {} })));
  lines.write(`${JSON.stringify(batch)}\n`);
  for (const { id } of batch) expect(await lines.reply(id)).toMatchObject({ result: {} });
});

test("white space and case in headers mean nothing", async () => {
  const gap = fc.constantFrom("", " ", "  ", "\t", " \t ");
  const some = fc.constantFrom(" ", "  ", "\t ", "   ");
  const charset = fc.constantFrom("utf-8", "UTF-8", '"utf-8"', '"Utf-8"', "utf8");
  const scheme = fc.constantFrom("Bearer", "bearer", "BEARER", "bEARER");
  await fc.assert(
    fc.asyncProperty(fc.tuple(gap, gap, some, charset, scheme), async ([before, after, space, named, bearer]) => {
      const headers = {
        "content-type": `application/JSON${before};${after}charset=${named}${before};`,
        authorization: `${bearer}${space}${alice}${after}`,
      };
      expect((await stage.ask(asked(headers))).status).toBe(200);
    }),
    runs(30),
  );
});

/** The error that each line gets, with the id `null`, unless its request has one. */
const badLines: readonly (readonly [what: string, line: string | Buffer, code: number, id?: string])[] = [
  ["no JSON", "this is not json", -32_700],
  ["half a message", '{"jsonrpc":"2.0","id":1,"method":"pi', -32_700],
  ["bytes that are not UTF-8", Buffer.from('{"jsonrpc":"2.0","id":1,"method":"\xff"}', "latin1"), -32_700],
  ["JSON that is no message", "5", -32_600],
  ["an object that is no message", '{"hello":"world"}', -32_600],
  ["an empty batch", "[]", -32_600],
  ["a batch of no messages", "[1]", -32_600],
  ["a batch that is too long", `[${Array(33).fill('{"jsonrpc":"2.0","method":"x"}').join()}]`, -32_600],
  ["another version", '{"jsonrpc":"1.0","id":"one","method":"ping"}', -32_600, "one"],
  ["a line over the limit", `{"jsonrpc":"2.0","id":1,"method":"${"x".repeat(2_000_000)}"}`, -32_600],
];

test.for(badLines)("a line with %s gets an error, and the next one is read", async ([, line, code, id = null]) => {
  await using served = await ServeLines.open(args(join(stage.folder, "bad-lines")));
  served.write(Buffer.concat([Buffer.from(line), Buffer.from("\n")]));
  expect((await served.reply(id)).error?.code).toBe(code);
  expect(await served.ask("ping")).toMatchObject({ result: {} });
});

test("a byte order mark, a blank line and white space are no part of a message", async () => {
  const served = new ServeLines(serveHere(args(join(stage.folder, "mark"))));
  served.write(`\ufeff${JSON.stringify({ jsonrpc: "2.0", ...handshake })}\r\n\r\n  \n`);
  expect(await served.reply(0)).toMatchObject({ result: { serverInfo: { name: "memcell" } } });
  // What the end of the input cuts is answered as well.
  served.write(' {"jsonrpc":"2.0","id":"last","method":"ping"}');
  served.wires.stdin.end();
  expect(await served.reply("last")).toMatchObject({ result: {} });
  expect(await served.ended).toMatchObject({ code: 0, stderr: "", strayLines: [] });
});

test("a message that the end of the input cuts gets an error", async () => {
  const served = await ServeLines.open(args(join(stage.folder, "cut")));
  served.write('{"jsonrpc":"2.0","id":1,"meth');
  served.wires.stdin.end();
  expect((await served.reply(null)).error?.code).toBe(-32_700);
  expect(await served.ended).toMatchObject({ code: 0, strayLines: [] });
});

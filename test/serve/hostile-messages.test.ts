/** Arbitrary input on lines: the server answers every request and goes on. What requests may hold, `attacks/` shows. */
import { join } from "node:path";

import { afterAll, beforeAll, expect, test } from "vitest";

import { ServeLines, entry } from "../stage/serve-lines.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { userFolderNames } from "../support/user-files.ts";
import { misshapen } from "./attacks/resource-uris.ts";

const sharedFolder = temporaryFolder();
const dataDir = join(sharedFolder.path, "data");
let shared: ServeLines;
beforeAll(async () => {
  shared = await ServeLines.open(["--user", "alice", "--data", dataDir]);
});
afterAll(async () => {
  shared.wires.stdin.end();
  expect(await shared.ended).toMatchObject({ code: 0, strayLines: [] });
  sharedFolder[Symbol.dispose]();
});

const deep = (levels: number): string => "[".repeat(levels) + "]".repeat(levels);

test.for<readonly [what: string, line: string]>([
  ["an empty line", ""],
  ["deep brackets, with an error", deep(400_000)],
  ["an answer without a request", '{"jsonrpc":"2.0","id":5,"result":{}}'],
  ["an odd cancellation", '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{}}}'],
  ["an unknown notification", '{"jsonrpc":"2.0","method":"notifications/absent"}'],
])("goes on after a line that requests nothing: %s", async ([, line]) => {
  shared.write(`${line}\n`);
  expect(await shared.ask("ping")).toMatchObject({ result: {} });
});

test("does not log a flood of garbage line by line", async () => {
  using folder = temporaryFolder();
  await using served = await ServeLines.open(["--user", "alice", "--data", folder.path]);
  served.write('{"jsonrpc":"2.0","id":5,"result":{}}\n'.repeat(2_000));
  await served.ask("ping");
  served.wires.stdin.end();
  const { stderr } = await served.ended;
  expect(stderr.split("\n").length).toBeLessThanOrEqual(101);
});

test.for<readonly [what: string, request: object]>([
  ["a method that is a number", { method: 7 }],
  ["another version of JSON-RPC", { jsonrpc: "1.0", method: "ping" }],
  ["parameters in an array", { method: "tools/call", params: ["ReadUserMemory"] }],
  ["no name", { method: "tools/call", params: { arguments: {} } }],
  ["a cursor that is an object", { method: "resources/list", params: { cursor: { user: "bob" } } }],
  ["a completion without arguments", { method: "completion/complete", params: { ref: 1, argument: 2 } }],
  ["a level of logging", { method: "logging/setLevel", params: { level: "debug" } }],
])("an invalid request gets an error and does nothing: %s", async ([id, request]) => {
  shared.send({ id, ...request });
  const { error } = await shared.reply(id);
  expect(error?.code).toBeLessThan(-32_000);
  expect(error?.message).not.toMatch(/\/(?:work|tmp|home|usr|root)\/|node_modules|\n\s+at /);
  expect(userFolderNames(dataDir)).toEqual([]);
});

test("misshapen URIs are refused when subscribed to", async () => {
  for (const uri of misshapen) {
    const { error } = await shared.ask("resources/subscribe", { uri });
    expect({ uri, code: error?.code }).toEqual({ uri, code: -32_602 });
  }
});

test.for<readonly [what: string, input: string]>([
  ["none at all", "{}"],
  ["deep ones", `{"name":${deep(10_000)}}`],
  ["too many", `{${Array.from({ length: 20_000 }, (_, index) => `"k${index}":1`).join()}}`],
  ["too large", `{"name":"${"x".repeat(600_000)}"}`],
])("arguments that no tool takes give an error result: %s", async ([id, input]) => {
  const params = `{"name":"ReadUserMemory","arguments":${input}}`;
  shared.write(`{"jsonrpc":"2.0","id":"${id}","method":"tools/call","params":${params}}\n`);
  const { result } = await shared.reply(id);
  expect(result).toMatchObject({ isError: true, _meta: { "memcell/error": { code: "INPUT_INVALID" } } });
  expect(userFolderNames(dataDir)).toEqual([]);
});

test.for<readonly [what: string, params: string, says: string]>([
  ["a key twice", '{"name":"a","name":"b"}', 'has the key \\"name\\" twice'],
  ["__proto__", '{"name":"a","__proto__":{}}', "__proto__"],
])("what readers take differently is refused, and not stored: %s", async ([id, input, says]) => {
  shared.write(
    `{"jsonrpc":"2.0","id":"${id}","method":"tools/call","params":{"name":"ReadUserMemory","arguments":${input}}}\n`,
  );
  const { error } = await shared.reply(id);
  expect(error).toMatchObject({ code: -32_700 });
  expect(JSON.stringify(error?.message)).toContain(says);
});

test("each request of a batch that readers take differently is answered", async () => {
  shared.write(
    '[{"jsonrpc":"2.0","id":"d1","method":"ping"},{"jsonrpc":"2.0","id":"d2","method":"ping","method":"x"}]\n',
  );
  for (const id of ["d1", "d2"]) expect(await shared.reply(id)).toMatchObject({ error: { code: -32_700 } });
});

test("reads messages split at any byte", async () => {
  using folder = temporaryFolder();
  await using served = await ServeLines.open(["--user", "alice", "--data", folder.path]);
  const bytes = Buffer.from(
    '{"jsonrpc":"2.0","id":"é","method":"ping"}\r\n{"jsonrpc":"2.0","id":2000,"method":"ping"}\n',
  );
  for (const byte of bytes) served.write(Buffer.of(byte));
  expect(await served.reply("é")).toMatchObject({ result: {} });
  expect(await served.reply(2000)).toMatchObject({ result: {} });
});

test("a line that never ends is not kept, and its end gets an error", async () => {
  using folder = temporaryFolder();
  await using served = await ServeLines.open(["--user", "alice", "--data", folder.path]);
  const written = served.call("UpdateUserMemory", entry("before"));
  served.write(`{"jsonrpc":"2.0","id":"late","method":"ping","params":{"x":"`);
  for (let megabytes = 0; megabytes < 8; megabytes++) served.write("x".repeat(1_000_000));
  expect(await written).toMatchObject({ result: { structuredContent: { outcome: "created" } } });
  served.write("\n");
  expect(await served.reply(null)).toMatchObject({ error: { code: -32_600 } });
  expect(await served.ask("ping")).toMatchObject({ result: {} });
});

/** Arbitrary input: the server answers every request and goes on. */
import { join } from "node:path";

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { temporaryFolder } from "../support/temporary-folder.ts";
import { userFolderNames } from "../support/user-files.ts";
import { ServeProcess, entry } from "./serve-process.ts";

const sharedFolder = temporaryFolder();
const dataDir = join(sharedFolder.path, "data");
let shared: ServeProcess;
beforeAll(async () => {
  shared = await ServeProcess.open(["--user", "alice", "--data", dataDir]);
});
afterAll(async () => {
  shared.child.stdin.end();
  expect(await shared.ended).toMatchObject({ code: 0, strayLines: [] });
  sharedFolder[Symbol.dispose]();
});

const deep = (levels: number): string => "[".repeat(levels) + "]".repeat(levels);

describe("ignores lines that request nothing", () => {
  test.for([
    { name: "an empty line", line: "" },
    { name: "text", line: "hello" },
    { name: "half a message", line: '{"jsonrpc":"2.0","id":1' },
    { name: "null", line: "null" },
    { name: "a number", line: "1e999" },
    { name: "a batch", line: '[{"jsonrpc":"2.0","id":99,"method":"ping"}]' },
    { name: "an answer without a request", line: '{"jsonrpc":"2.0","id":5,"result":{}}' },
    { name: "an error without a request", line: '{"jsonrpc":"2.0","id":5,"error":{"code":1,"message":"m"}}' },
    {
      name: "a cancellation of an unknown request",
      line: '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{}}}',
    },
    { name: "an unknown notification", line: '{"jsonrpc":"2.0","method":"notifications/absent"}' },
    { name: "brackets without end", line: "[".repeat(500_000) },
    { name: "brackets with an end", line: deep(400_000) },
    { name: "bytes that are not UTF-8", line: Buffer.from('{"jsonrpc":"2.0","id":1,"method":"\xff"}', "latin1") },
    { name: "NULs", line: "\0".repeat(1_000) },
  ])("$name", async ({ line }) => {
    shared.write(Buffer.concat([Buffer.from(line), Buffer.from("\n")]));
    expect(await shared.ask("ping")).toMatchObject({ result: {} });
  });
});

test("does not log a flood of garbage line by line", async () => {
  using folder = temporaryFolder();
  await using served = await ServeProcess.open(["--user", "alice", "--data", folder.path]);
  served.write('{"jsonrpc":"2.0","id":5,"result":{}}\n'.repeat(2_000));
  await served.ask("ping");
  served.child.stdin.end();
  const { stderr } = await served.ended;
  expect(stderr.split("\n").length).toBeLessThanOrEqual(101);
});

describe("invalid requests get an error and do nothing", () => {
  test.for([
    { name: "a method that is a number", request: { method: 7 } },
    { name: "another version of JSON-RPC", request: { jsonrpc: "1.0", method: "ping" } },
    { name: "an unknown method", request: { method: "absent" } },
    { name: "a prototype's method", request: { method: "__proto__" } },
    { name: "parameters in an array", request: { method: "tools/call", params: ["ReadUserMemory"] } },
    { name: "no parameters", request: { method: "tools/call" } },
    { name: "no name", request: { method: "tools/call", params: { arguments: {} } } },
    { name: "a name that is an object", request: { method: "tools/call", params: { name: {} } } },
    {
      name: "arguments in an array",
      request: { method: "tools/call", params: { name: "UpdateUserMemory", arguments: [] } },
    },
    {
      name: "arguments in a text",
      request: { method: "tools/call", params: { name: "UpdateUserMemory", arguments: "{}" } },
    },
    {
      name: "null for arguments",
      request: { method: "tools/call", params: { name: "UpdateUserMemory", arguments: null } },
    },
    { name: "a URI that is a number", request: { method: "resources/read", params: { uri: 1 } } },
    { name: "a cursor that is an object", request: { method: "resources/list", params: { cursor: { user: "bob" } } } },
    { name: "a prompt without name", request: { method: "prompts/get", params: {} } },
    {
      name: "a completion without arguments",
      request: { method: "completion/complete", params: { ref: 1, argument: 2 } },
    },
    { name: "a level of logging", request: { method: "logging/setLevel", params: { level: "debug" } } },
    { name: "a user of its own", request: { method: "users/list", params: { user: "bob" } } },
  ])("$name", async ({ name, request }) => {
    shared.send({ id: name, ...request });
    const { error } = await shared.reply(name);
    expect(error?.code).toBeLessThan(-32_000);
    expect(error?.message).not.toMatch(/\/(?:work|tmp|home|usr|root)\/|node_modules|\n\s+at /);
    expect(userFolderNames(dataDir)).toEqual([]);
  });
});

describe("arguments that no tool takes give an error result", () => {
  test.for([
    { name: "none at all", input: "{}" },
    { name: "deep ones", input: `{"name":${deep(10_000)}}` },
    { name: "a user", input: '{"name":"a","userId":"bob"}' },
    { name: "half a surrogate pair", input: '{"name":"\\ud800"}' },
    { name: "too many", input: `{${Array.from({ length: 20_000 }, (_, index) => `"k${index}":1`).join()}}` },
    { name: "too large", input: `{"name":"${"x".repeat(600_000)}"}` },
  ])("$name", async ({ name, input }) => {
    const params = `{"name":"ReadUserMemory","arguments":${input}}`;
    shared.write(`{"jsonrpc":"2.0","id":"${name}","method":"tools/call","params":${params}}\n`);
    const { result } = await shared.reply(name);
    expect(result).toMatchObject({ isError: true, _meta: { "memcell/error": { code: "INPUT_INVALID" } } });
    expect(userFolderNames(dataDir)).toEqual([]);
  });
});

test("ignores what a request says about its user", async () => {
  using folder = temporaryFolder();
  await using served = await ServeProcess.open(["--user", "alice", "--data", folder.path]);
  const _meta = { userId: "bob", "memcell/user": "bob" };
  const params = { name: "UpdateUserMemory", arguments: entry("a"), userId: "bob", user: "bob", _meta };
  expect(await served.ask("tools/call", params)).toMatchObject({
    result: { structuredContent: { outcome: "created" } },
  });
  expect(userFolderNames(folder.path)).toEqual(["alice"]);
});

test("reads messages split at any byte", async () => {
  using folder = temporaryFolder();
  await using served = await ServeProcess.open(["--user", "alice", "--data", folder.path]);
  const bytes = Buffer.from(
    '{"jsonrpc":"2.0","id":"é","method":"ping"}\r\n{"jsonrpc":"2.0","id":2000,"method":"ping"}\n',
  );
  for (const byte of bytes) served.write(Buffer.of(byte));
  expect(await served.reply("é")).toMatchObject({ result: {} });
  expect(await served.reply(2000)).toMatchObject({ result: {} });
});

test("a message of more than 1 MiB ends the connection after all earlier ones are answered", async () => {
  using folder = temporaryFolder();
  await using served = await ServeProcess.open(["--user", "alice", "--data", folder.path]);
  const written = served.call("UpdateUserMemory", entry("before"));
  served.write(`{"jsonrpc":"2.0","id":"late","method":"ping","params":{"x":"${"x".repeat(2_000_000)}`);
  expect(await written).toMatchObject({ result: { structuredContent: { outcome: "created" } } });
  const { code, stderr } = await served.ended;
  expect({ code, stderr }).toEqual({ code: 0, stderr: "error mcp: a line is longer than 1048576 bytes\n" });
});

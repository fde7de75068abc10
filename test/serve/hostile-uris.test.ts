/** URIs that name nothing: all refused in the same way, recorded, and without access to a disk. */
import { join } from "node:path";

import { afterAll, beforeAll, expect, test } from "vitest";

import { entryUri, parseMemoryUri } from "../../host/serve/mcp/memory-uri.ts";
import { readRecords } from "../audit/audited-stage.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { readUserFiles, userFolderNames } from "../support/user-files.ts";
import { ServeProcess, entry } from "./serve-process.ts";

/** URIs of neither form. Nothing is called. */
const misshapen = [
  "",
  " ",
  "memory",
  "memory:",
  "memory:index",
  "memory:/index",
  "memory:///index",
  "memory://",
  "memory://index/",
  "memory://index?",
  "memory://index#",
  "memory://index?user=bob",
  "memory://INDEX",
  "Memory://index",
  "MEMORY://index",
  " memory://index",
  "memory://index ",
  "memory://index\n",
  "memory://index\0",
  "memory://%69ndex",
  "memory://index.md",
  "memory://bob@index",
  "memory://index:80",
  "memory://user-memory/entry",
  "memory://entry/kept",
  "memory://unknown/index",
  "memory://unknown/entry/kept",
  "memory://user-memory",
  "memory://user-memory/",
  "memory://user-memory/index/",
  "memory://user-memory/INDEX",
  "memory://user-memory//index",
  "memory://user%2Dmemory/index",
  "memory://User-memory/index",
  "memory://-user-memory/index",
  "memory://user-memory/entry/",
  "memory://user-memory/entry//",
  "memory://user-memory/entry//kept",
  "memory://user-memory/entry/kept/",
  "memory://user-memory/entry/a/b",
  "memory://user-memory/entry/../kept",
  "memory://user-memory/entry/kept?x=1",
  "memory://user-memory/entry/kept#x",
  "memory://user-memory/Entry/kept",
  "memory://user-memory:80/entry/kept",
  "memory://user@user-memory/entry/kept",
  "memory://bob/entry/kept",
  "memory://user-memory\\entry\\kept",
  "memory://user-memory/entry/kept\n",
  "memory://user-memory/entry/kept\r\n",
  "memory://user-memory/entry/k\u00e9pt",
  "memory://user-memory/entry/\u043aept",
  "memory://user-memory/entry/%",
  "memory://user-memory/entry/%2",
  "memory://user-memory/entry/%zz",
  "memory://user-memory/entry/%ff",
  "memory://user-memory/entry/%c0%ae%c0%ae",
  "memory://user-memory/entry/%ed%a0%80",
  "memory://user-memory/entry/{name}",
  `memory://user-memory/entry/${"a".repeat(4_096)}`,
  "file:///etc/passwd",
  "http://127.0.0.1/",
  "javascript:alert(1)",
  "../../etc/passwd",
  "/etc/passwd",
];

/** URIs of the form of an entry's, with names that no entry can have. The guest refuses these. */
const misnamed = [
  "memory://user-memory/entry/.",
  "memory://user-memory/entry/..",
  "memory://user-memory/entry/%2e%2e",
  "memory://user-memory/entry/..%2f..%2fbob%2fmemory%2fsecret",
  "memory://user-memory/entry/%2Fetc%2Fpasswd",
  "memory://user-memory/entry/trash%2fkept",
  "memory://user-memory/entry/kept.md",
  "memory://user-memory/entry/kept%00",
  "memory://user-memory/entry/kept%0a",
  "memory://user-memory/entry/%20kept",
  "memory://user-memory/entry/%256bept",
  "memory://user-memory/entry/MEMORY",
  "memory://user-memory/entry/con",
  "memory://user-memory/entry/%F0%9F%98%80",
  `memory://user-memory/entry/${"a".repeat(101)}`,
];

const folder = temporaryFolder();
const dataDir = join(folder.path, "data");
const logFile = join(folder.path, "log", "audit.jsonl");
let served: ServeProcess;
let before: Record<string, string>;
beforeAll(async () => {
  served = await ServeProcess.open(["--user", "alice", "--data", dataDir, "--audit-log", logFile]);
  await served.call("UpdateUserMemory", entry("kept"));
  before = readUserFiles(dataDir, "alice");
});
afterAll(async () => {
  await served[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

test.for([...misshapen, ...misnamed])("not found: %j", async (uri) => {
  const expected = { code: -32602, message: expect.stringMatching(/^Resource not found: /), data: expect.anything() };
  expect(await served.ask("resources/read", { uri })).toMatchObject({ error: expected });
  expect(readUserFiles(dataDir, "alice")).toEqual(before);
  expect(userFolderNames(dataDir)).toEqual(["alice"]);
});

test.for(misshapen)("cannot be watched: %j", async (uri) => {
  expect(await served.ask("resources/subscribe", { uri })).toMatchObject({ error: { code: -32602 } });
});

test("an answer repeats only as much of a URI as a valid one can have", async () => {
  const reply = await served.ask("resources/read", { uri: `memory://user-memory/entry/${"a".repeat(500_000)}` });
  expect(JSON.stringify(reply).length).toBeLessThan(10_000);
});

test("records each one: a malformed URI as a refusal, an invalid name as a call", async () => {
  const [records, uri] = [readRecords(logFile).length, "memory://user-memory/entry/kept?x"];
  await served.ask("resources/read", { uri });
  await served.ask("resources/read", { uri: "memory://user-memory/entry/.." });
  const added = readRecords(logFile).slice(records);
  expect(added.filter(({ kind }) => kind === "call")).toMatchObject([
    { tool: "ReadUserMemory", userId: "alice", code: "INPUT_INVALID" },
  ]);
  await served[Symbol.asyncDispose]();
  const refused = (readRecords(logFile) as { kind: string; times?: number }[]).filter(({ kind }) => kind === "refused");
  expect(refused[0]).toMatchObject({ surface: "mcp", reason: "resource-unknown", userId: "alice" });
  // Read, watched, the long one, and the one above.
  const total = refused.reduce((sum, { times = 0 }) => sum + times, 0);
  expect(total).toBe(misshapen.length * 2 + 2);
});

/** Valid journal keys: up to 200 code points without control characters. */
const hostileNames = [
  "Don't forget (important)!",
  "*",
  "!'()*-._~",
  "%2e%2e",
  "a/b?c#d",
  "{name}",
  "\u5317\u4eac".repeat(40),
  "\u{1f389}".repeat(50),
  "\u{1f389}".repeat(200),
];

test.for(["a", "A-b_C", "x".repeat(100), ...hostileNames])("a name's URI parses back to the name: %s", (name) => {
  expect(parseMemoryUri(entryUri("notes", name))).toEqual({ kind: "entry", family: "notes", name });
});

test.for(["", "x".repeat(4_096)])("a name that no URI can express gets a URI that names nothing: %#", (name) => {
  expect(parseMemoryUri(entryUri("notes", name))).toBe(null);
});

test("every listed URI can be read and watched, whatever the entry's name", async () => {
  using root = temporaryFolder();
  await using own = await ServeProcess.open(["--user", "bob", "--data", root.path, "--plugin", "journal"]);
  const target = "summary";
  for (const key of hostileNames) await own.call("memory_write", { key, content: `of ${key}`, target });
  const { result } = await own.ask("resources/list", {});
  const listed = result?.["resources"] as { uri: string; name: string }[];
  const entries = listed.filter(({ uri }) => uri.includes("/entry/"));
  expect(entries.map(({ name }) => name).toSorted()).toEqual(hostileNames.toSorted());
  for (const { uri, name } of entries) {
    expect(await own.ask("resources/read", { uri })).toMatchObject({
      result: { contents: [{ uri, text: `of ${name}` }] },
    });
    expect(await own.ask("resources/subscribe", { uri })).toMatchObject({ result: {} });
  }
});

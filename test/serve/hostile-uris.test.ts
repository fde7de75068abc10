/** URIs over standard input and output: those that name nothing are refused and recorded, all others can be read. */
import { join } from "node:path";

import { expect, test } from "vitest";

import { readRecords } from "../stage/runtime.ts";
import { ServeLines, entry } from "../stage/serve-lines.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { readUserFiles, userFolderNames } from "../support/user-files.ts";
import { misnamed, misshapen } from "./attacks/resource-uris.ts";

const ofBob = (uris: readonly string[]): string[] => uris.map((uri) => uri.replaceAll(/\$(user|entry)/g, "bob"));
const [unknown, invalid] = [ofBob(misshapen), ofBob(misnamed)];

test("a URI that names nothing is not found and cannot be watched, each is on record, and nothing is written", async () => {
  using folder = temporaryFolder();
  const [dataDir, logFile] = [join(folder.path, "data"), join(folder.path, "log", "audit.jsonl")];
  await using served = await ServeLines.open(["--user", "alice", "--data", dataDir, "--audit-log", logFile]);
  await served.call("UpdateUserMemory", entry("plan"));
  const [before, known] = [readUserFiles(dataDir, "alice"), readRecords(logFile).length];
  const message = expect.stringMatching(/^Resource not found: /) as unknown;
  for (const uri of [...unknown, ...invalid]) {
    const reply = await served.ask("resources/read", { uri });
    expect({ uri, ...reply }).toMatchObject({ uri, error: { code: -32602, message, data: expect.anything() } });
    // An answer repeats only as much of a URI as a valid one can have.
    expect(JSON.stringify(reply).length).toBeLessThan(10_000);
  }
  for (const uri of unknown) {
    const reply = await served.ask("resources/subscribe", { uri });
    expect({ uri, ...reply }).toMatchObject({ uri, error: { code: -32602 } });
  }
  expect(readUserFiles(dataDir, "alice")).toEqual(before);
  expect(userFolderNames(dataDir)).toEqual(["alice"]);
  await served[Symbol.asyncDispose]();
  const added = readRecords(logFile).slice(known);
  const calls = added.filter(({ kind }) => kind === "call");
  expect(calls).toMatchObject(invalid.map(() => ({ tool: "ReadUserMemory", userId: "alice", code: "INPUT_INVALID" })));
  const refused = added.flatMap((record) => (record.kind === "refused" ? [record] : []));
  expect(refused[0]).toMatchObject({ surface: "mcp", reason: "resource-unknown", userId: "alice" });
  expect(refused.reduce((sum, { times }) => sum + times, 0)).toBe(unknown.length * 2);
});

/** Valid journal keys: up to 200 code points without control characters. */
const hostileNames = [
  ["Don't forget (important)!", "*", "!'()*-._~", "%2e%2e", "a/b?c#d", "{name}", "a", "A-b_C", "x".repeat(100)],
  ["\u5317\u4eac".repeat(40), "\u{1f389}".repeat(50), "\u{1f389}".repeat(200)],
].flat();

test("every listed URI can be read and watched, whatever the entry's name", async () => {
  using folder = temporaryFolder();
  await using served = await ServeLines.open(["--user", "bob", "--data", folder.path, "--plugin", "journal"]);
  for (const key of hostileNames) {
    await served.call("memory_write", { key, content: `of ${key}`, target: "summary" });
  }
  const { result } = await served.ask("resources/list", {});
  const listed = result?.["resources"] as { uri: string; name: string }[];
  const entries = listed.filter(({ uri }) => uri.includes("/entry/"));
  expect(entries.map(({ name }) => name).toSorted()).toEqual(hostileNames.toSorted());
  for (const { uri, name } of entries) {
    const contents = [{ uri, text: `of ${name}` }];
    expect(await served.ask("resources/read", { uri })).toMatchObject({ result: { contents } });
    expect(await served.ask("resources/subscribe", { uri })).toMatchObject({ result: {} });
  }
});

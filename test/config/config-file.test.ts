/**
 * A file that a person has written: one unknown or invalid part refuses the whole, with its line and column, and nothing
 * waits for a file.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { createRuntime, memoryStore } from "memcell";
import { afterAll, expect, test } from "vitest";

import { configLimits } from "../../shared/limits.ts";
import { memcell } from "../stage/command.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { mistakeOf, settingsOf } from "./settings-of.ts";

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());

function write(name: string, text: string | Buffer): string {
  writeFileSync(join(folder.path, name), text, { mode: 0o600 });
  return join(folder.path, name);
}

const { fileBytesMax } = configLimits;
const cannot = 'cannot use "FILE": it is';

const refused: readonly (readonly [name: string, text: string | Buffer, says: string])[] = [
  ["bytes that are not UTF-8", Buffer.from('{"data":"\xe9"}', "latin1"), `${cannot} not UTF-8`],
  ["an array", "[1]", `${cannot} an array, allowed: an object`],
  ["a key twice", '{\n  "a": 1,\n  "é": { "b": 2, "b": 3 }\n}', 'the key "b" twice in one object (line 3, column 18)'],
  ["a key twice, once escaped", '{"policy":"a","polic\\u0079":"b"}', 'the key "policy" twice'],
  ["the prototype's key", '{\n\n "__proto__": 1 }', "names nothing (line 3, column 2)"],
  ["a misspelt name", '{"auditlog":"x"}', '"FILE" has "auditlog": unknown setting; did you mean "auditLog"?'],
  ["a name in the wrong place", '{"port":1}', 'has "port": unknown setting; did you mean "serve.port"?'],
  ["a path for a name", '{"serve.port":1}', 'the key "serve.port", allowed: nested objects, "serve" > "port"'],
  ["half a surrogate pair", '{"data":"\\ud800"}', 'is "\\ud800", allowed: the name of a folder'],
  ["a NUL", '{"auditLog":"log\\u0000.jsonl"}', "allowed: the name of a file"],
  ["nine levels", `{"data":${"[".repeat(8)}${"]".repeat(8)}}`, "it is 9 levels deep, at most 8"],
  ["control characters in a name", '{"\\u001b[2J\\u202e":1}', 'has "\\u001b[2J\\u202e": unknown setting'],
  ["too many bytes", " ".repeat(fileBytesMax + 1), `${fileBytesMax + 1} bytes, at most ${fileBytesMax} allowed`],
  ["an unknown setting", '{\n  "data": "x",\n  "auditlog": "y"\n}', "(line 3, column 3)"],
  ["a wrong value", '{\n  "serve": { "http": true,\n    "port": "80" }\n}', "(line 3, column 5)"],
];

test.for(refused)("a file with %s is refused", async ([, text, says], { task }) => {
  const name = `${task.id}.json`;
  const mistake = await mistakeOf(["--config", write(name, text)]);
  expect(mistake).toContain(says.replaceAll("FILE", name));
  expect(mistake).not.toContain(folder.path);
  expect(mistake.length).toBeLessThan(300);
});

const syntax: readonly (readonly [name: string, text: string, at: string])[] = [
  ["nothing", "", "line 1, column 1: a value is expected"],
  ["a trailing comma", '{\n  "data": "x",\n}', "line 3, column 1: a key in double quotes is expected"],
  ["a missing colon", '{\n  "data" "x"\n}', "line 2, column 10: a colon is expected"],
  ["a missing brace", '{\n  "data": "x"\n', 'line 3, column 1: "}" is expected'],
  [
    "a missing quote",
    '{\n  "data": "x,\n  "a": 1\n}',
    "line 2, column 11: the text that begins here has no closing quote",
  ],
  ["single quotes", "{\r\n  'data': 'x'\r\n}", "line 2, column 3: a value is expected, or a key in double quotes"],
  ["a comment", '{\n  // the data\n  "data": "x"\n}', "line 2, column 3: comments are not allowed"],
  ["more than one value", '{}\n{ "data": "x" }', "line 2, column 1: nothing is expected after"],
];

const policyError = (policy: string): Promise<unknown> =>
  createRuntime({ store: memoryStore(), policy }).then(
    () => "it was used",
    (error: unknown) => (error as Error).message,
  );

test.for(syntax)("a config file or a policy with %s names the place", async ([, text, at], { task }) => {
  const file = write(`${task.id}.json`, text);
  expect(await mistakeOf(["--config", file])).toContain(`it is not JSON (${at}`);
  expect(await policyError(file)).toContain(`it is not JSON (${at}`);
});

const policy = (tools: string): string => `{\n  "version": 1,\n  "plugins": {\n    "a": {\n${tools}\n    }\n  }\n}`;

test.for([
  ["a wrong right", policy('      "tools": { "A":\n { "rights": ["own"], "scopes": [] } }'), "line 6, column 15"],
  ["a missing part", policy(""), "line 4, column 5"],
  ["an unknown key", policy('      "tools": {},\n      "grants": 1'), "line 6, column 7"],
  ["another version", '{\n  "plugins": {},\n  "version": 2\n}', "line 3, column 3"],
] as const)("a policy with %s names the place", async ([, text, at], { task }) => {
  expect(await policyError(write(`${task.id}.json`, text))).toMatch(new RegExp(` \\(${at}\\)$`));
});

test("the lock file of a policy has places, and a policy that is an object of the program has none", async () => {
  write("bad.lock.json", '{\n  "version": 1,\n  "plugins": [}\n');
  const locked = write("locked.json", JSON.stringify({ version: 1, lockFile: "bad.lock.json", plugins: {} }));
  expect(await policyError(locked)).toMatch(/it is not JSON \(line 3, column 15: /);
  expect(await policyError({ version: 2, plugins: {} } as never)).toMatch(/version is 2, allowed: 1$/);
});

test("the server's files with agents' keys and with a key set have places", async () => {
  const keys = write("keys.json", '{\n  "one": "alice",\n}');
  const data = ["--data", join(folder.path, "data"), "--port", "0"];
  const issuer = ["--issuer", "https://id.example", "--audience", "m"];
  const other = write("set.json", JSON.stringify({ keys: [] }));
  for (const args of [
    ["--jwks", keys],
    ["--jwks", other, "--storage", "--agent-keys", keys, "--plugin", "stores"],
  ]) {
    const { status, stderr } = await memcell(["serve", "--http", ...data, ...issuer, ...args]);
    expect(status).toBe(2);
    expect(stderr).toContain("it is not JSON (line 3, column 1");
  }
});

test("what is not a regular file is refused without waiting for it or reading it", async () => {
  const pipe = join(folder.path, "pipe.json");
  execFileSync("mkfifo", [pipe]);
  expect(await mistakeOf(["--config", pipe])).toBe('cannot use "pipe.json": it is not a regular file');
  mkdirSync(join(folder.path, "folder", "memcell.config.json"), { recursive: true });
  expect(await mistakeOf(["--config", join(folder.path, "folder")])).toContain("it is not a regular file");
  expect(await mistakeOf([], { MEMCELL_CONFIG: "/dev/zero" })).toBe('cannot use "zero": it is not a regular file');
  const large = write("large.json", "");
  truncateSync(large, 2 ** 40);
  expect(await mistakeOf(["--config", large])).toContain(`it is ${2 ** 40} bytes`);
});

test("a named file must exist", async () => {
  const absent = join(folder.path, "absent.json");
  expect(await mistakeOf(["--config", absent])).toBe('cannot use "absent.json": it cannot be read (ENOENT)');
  expect(await mistakeOf([], { MEMCELL_CONFIG: absent })).toContain("it cannot be read (ENOENT)");
  expect(await mistakeOf([], { MEMCELL_CONFIG: "" })).toBe("MEMCELL_CONFIG is not the name of a file");
  expect(await mistakeOf(["--config", ""])).toBe("--config is not the name of a file");
  symlinkSync("nowhere", join(folder.path, "dangling.json"));
  expect(await mistakeOf(["--config", join(folder.path, "dangling.json")])).toContain("it cannot be read");
});

test("a file can be empty except for the location of its schema", async () => {
  const { values, file } = await settingsOf(["--config", write("empty.json", '{"$schema":"./config.schema.json"}')]);
  expect({ data: values["data"], file }).toEqual({ data: "data", file: join(folder.path, "empty.json") });
  await settingsOf(["--config", write("empty-groups.json", '{"serve":{"auth":{}}}')]);
});

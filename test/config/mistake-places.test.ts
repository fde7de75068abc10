/** A mistake in a file that a person has written is reported with its line and column. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { afterAll, expect, test } from "vitest";

import { loadPolicy } from "../../host/plugins/policy/load-policy.ts";
import { openAgentKeys } from "../../host/serve/http/agent-keys.ts";
import { openTokenKeys } from "../../host/serve/http/token-keys.ts";
import { tokenOptions } from "../stage/http.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { mistakeOf } from "./settings-of.ts";

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());

function write(name: string, text: string): string {
  writeFileSync(join(folder.path, name), text);
  return join(folder.path, name);
}

const syntax = [
  {
    name: "a trailing comma",
    text: '{\n  "data": "x",\n}',
    at: "line 3, column 1: a key in double quotes is expected",
  },
  { name: "a missing value", text: '{\n  "data": \n}', at: "line 3, column 1: a value is expected" },
  {
    name: "a missing comma",
    text: '{\n  "data": "x"\n  "policy": "y"\n}',
    at: "line 3, column 3: a comma or a closing bracket is expected",
  },
  { name: "a missing colon", text: '{\n  "data" "x"\n}', at: "line 2, column 10: a colon is expected" },
  { name: "a missing brace", text: '{\n  "data": "x"\n', at: 'line 3, column 1: "}" is expected' },
  {
    name: "a missing bracket",
    text: '{\n  "plugins": ["x"\n}',
    at: "line 3, column 1: a comma or a closing bracket is expected",
  },
  {
    name: "a missing quote",
    text: '{\n  "data": "x,\n  "policy": "y"\n}',
    at: "line 2, column 11: the text that begins here has no closing quote",
  },
  {
    name: "single quotes",
    text: "{\r\n  'data': 'x'\r\n}",
    at: "line 2, column 3: a value is expected, or a key in double quotes",
  },
  { name: "a comment", text: '{\n  // the data\n  "data": "x"\n}', at: "line 2, column 3: comments are not allowed" },
  { name: "more than one value", text: '{}\n{ "data": "x" }', at: "line 2, column 1: nothing is expected after" },
  { name: "an escape", text: '{\n  "data": "C:\\data"\n}', at: "line 2, column 11: the text that begins here has an" },
  { name: "nothing", text: "", at: "line 1, column 1: a value is expected" },
];

test.for(syntax)("a config file or policy with $name", async ({ text, at }, { task }) => {
  const file = write(`${task.id}.json`, text);
  expect(await mistakeOf(["--config", file])).toContain(`it is not JSON (${at}`);
  await expect(loadPolicy(file)).rejects.toThrow(`it is not JSON (${at}`);
});

const tooMuch = '{\n  "a": 1,\n  "é": { "b": 2, "b": 3 }\n}';
test("a repeated key, and one that names nothing", async () => {
  expect(await mistakeOf(["--config", write("twice.json", tooMuch)])).toMatch(
    /twice in one object \(line 3, column 18\)$/,
  );
  const proto = write("proto.json", '{\n\n "__proto__": 1 }');
  expect(await mistakeOf(["--config", proto])).toMatch(/names nothing \(line 3, column 2\)$/);
});

test.for([
  { name: "an unknown setting", text: '{\n  "data": "x",\n  "auditlog": "y"\n}', at: "line 3, column 3" },
  { name: "an unknown setting inside", text: '{\n  "serve": {\n    "prot": 1\n  }\n}', at: "line 3, column 5" },
  { name: "a wrong value", text: '{\n  "serve": { "http": true,\n    "port": "80" }\n}', at: "line 3, column 5" },
  { name: "a wrong part of a list", text: '{\n  "plugins": [\n    "journal",\n    7\n  ]\n}', at: "line 4, column 5" },
  { name: "a file that is no object", text: '\n\n  ["data"]', at: "line 3, column 3" },
])("a config file with $name", async ({ text, at }, { task }) => {
  expect(await mistakeOf(["--config", write(`${task.id}.json`, text)])).toMatch(new RegExp(` \\(${at}\\)$`));
});

const policy = (tools: string): string => `{\n  "version": 1,\n  "plugins": {\n    "a": {\n${tools}\n    }\n  }\n}`;
test.for([
  {
    name: "a wrong right",
    text: policy('      "tools": { "A":\n { "rights": ["own"], "scopes": [] } }'),
    at: "line 6, column 15",
  },
  { name: "a missing part", text: policy(""), at: "line 4, column 5" },
  { name: "an unknown key", text: policy('      "tools": {},\n      "grants": 1'), at: "line 6, column 7" },
  { name: "another version", text: '{\n  "plugins": {},\n  "version": 2\n}', at: "line 3, column 3" },
])("a policy with $name", async ({ text, at }, { task }) => {
  await expect(loadPolicy(write(`${task.id}.json`, text))).rejects.toThrow(new RegExp(` \\(${at}\\)$`));
});

test("a policy that is an object of the program has no lines", async () => {
  await expect(loadPolicy({ version: 2, plugins: {} } as never)).rejects.toThrow(/version is 2, allowed: 1$/);
});

test("the file with agents' keys, and that with a key set", async () => {
  const file = write("keys.json", '{\n  "one": "alice",\n}');
  await expect(openAgentKeys(file)).rejects.toThrow("it is not JSON (line 3, column 1: a key in double quotes");
  const keys = { kind: "jwks-file", file } as const;
  await expect(openTokenKeys(tokenOptions({ jwksUrl: "" }, { keys }), () => {})).rejects.toThrow(
    "it is not JSON (line 3, column 1",
  );
});

test("the lock file of a policy", async () => {
  write("bad.lock.json", '{\n  "version": 1,\n  "plugins": [}\n');
  const file = write("locked.json", JSON.stringify({ version: 1, lockFile: "bad.lock.json", plugins: {} }));
  await expect(loadPolicy(file)).rejects.toThrow(/it is not JSON \(line 3, column 15: /);
});

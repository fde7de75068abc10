/** One unknown or invalid part refuses a whole config file, and the command never waits for a file. */
import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { afterAll, expect, test } from "vitest";

import { configLimits } from "../../shared/limits.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { mistakeOf, settingsOf } from "./settings-of.ts";

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());

const texts: readonly { readonly name: string; readonly text: string | Buffer; readonly says: string }[] = [
  { name: "nothing", text: "", says: 'cannot use "FILE": it is not JSON' },
  { name: "a comment", text: "{} // no", says: 'cannot use "FILE": it is not JSON' },
  { name: "a byte order mark before garbage", text: "\ufeff{", says: 'cannot use "FILE": it is not JSON' },
  {
    name: "bytes that are not UTF-8",
    text: Buffer.from('{"data":"\xe9"}', "latin1"),
    says: 'cannot use "FILE": it is not UTF-8',
  },
  { name: "an array", text: "[1]", says: 'cannot use "FILE": it is an array, allowed: an object' },
  { name: "null", text: "null", says: 'cannot use "FILE": it is null, allowed: an object' },
  { name: "a key twice", text: '{"data":"a","data":"b"}', says: 'it has the key "data" twice in one object' },
  { name: "a key twice, once escaped", text: '{"policy":"a","polic\\u0079":"b"}', says: 'the key "policy" twice' },
  { name: "the prototype's key", text: '{"__proto__":{"data":"x"}}', says: 'it has the key "__proto__"' },
  { name: "the prototype's key inside", text: '{"serve":{"__proto__":{"port":1}}}', says: 'has the key "__proto__"' },
  { name: "a prototype's name", text: '{"constructor":{}}', says: '"FILE" has "constructor": unknown setting' },
  {
    name: "a prototype's name inside",
    text: '{"serve":{"toString":1}}',
    says: 'has "serve.toString": unknown setting',
  },
  {
    name: "a misspelt name",
    text: '{"auditlog":"x"}',
    says: '"FILE" has "auditlog": unknown setting; did you mean "auditLog"?',
  },
  {
    name: "a misspelt group",
    text: '{"server":{}}',
    says: 'has "server": unknown setting; did you mean "serve"?',
  },
  {
    name: "a name in the wrong place",
    text: '{"port":1}',
    says: 'has "port": unknown setting; did you mean "serve.port"?',
  },
  {
    name: "a path for a name",
    text: '{"serve.port":1}',
    says: 'has the key "serve.port", allowed: nested objects, "serve" > "port"',
  },
  {
    name: "a path inside",
    text: '{"serve":{"auth.issuer":"x"}}',
    says: 'has the key "auth.issuer", allowed: nested objects, "serve" > "auth" > "issuer"',
  },
  {
    name: "a group for a path",
    text: '{"serve.auth":{}}',
    says: 'the key "serve.auth", allowed: nested objects',
  },
  {
    name: "a group that is an array",
    text: '{"serve":[]}',
    says: 'serve (file FILE "serve") is an empty array, allowed: an object',
  },
  {
    name: "a group of null",
    text: '{"serve":{"auth":null}}',
    says: 'serve.auth (file FILE "serve.auth") is null, allowed: an object',
  },
  { name: "a schema inside", text: '{"serve":{"$schema":"x"}}', says: 'has "serve.$schema": unknown setting' },
  {
    name: "a schema that is a number",
    text: '{"$schema":1}',
    says: '$schema (file FILE "$schema") is 1, allowed: a text',
  },
  { name: "half a surrogate pair", text: '{"data":"\\ud800"}', says: 'is "\\ud800", allowed: the name of a folder' },
  { name: "a NUL", text: '{"auditLog":"log\\u0000.jsonl"}', says: "allowed: the name of a file" },
  { name: "nine levels", text: `{"data":${"[".repeat(8)}${"]".repeat(8)}}`, says: "it is 9 levels deep, at most 8" },
  { name: "30,000 levels", text: "[".repeat(30_000), says: "levels deep, at most 8 allowed" },
  {
    name: "an endless unknown name",
    text: `{"${"x".repeat(60_000)}":1}`,
    says: `has "${"x".repeat(60)}…": unknown setting`,
  },
  {
    name: "names with terminal control characters",
    text: '{"\\u001b[2J\\u202e":1}',
    says: 'has "\\u001b[2J\\u202e": unknown setting',
  },
  {
    name: "too many bytes",
    text: " ".repeat(configLimits.fileBytesMax + 1),
    says: `it is ${configLimits.fileBytesMax + 1} bytes, at most ${configLimits.fileBytesMax} allowed`,
  },
];

test.for(texts)("refuses a file with $name", async ({ text, says }, { task }) => {
  const name = `${task.id}.json`;
  const mistake = await mistakeOf(["--config", write(name, text)]);
  expect(mistake).toContain(says.replaceAll("FILE", name));
  expect(mistake).not.toContain(folder.path);
  expect(mistake.length).toBeLessThan(300);
});

test("refuses what is not a regular file without waiting for it or reading it", async () => {
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
  expect({ data: values.data, file }).toEqual({ data: "data", file: join(folder.path, "empty.json") });
  await settingsOf(["--config", write("empty-groups.json", '{"serve":{"auth":{}}}')]);
});

test("a path that ends in a separator keeps it, and so names no file", async () => {
  const { values } = await settingsOf(["--config", write("slash.json", '{"auditLog":"log/"}')]);
  expect(values.auditLog).toBe(join(folder.path, "log/"));
});

function write(name: string, text: string | Buffer): string {
  writeFileSync(join(folder.path, name), text);
  return join(folder.path, name);
}

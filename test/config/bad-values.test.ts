/** An invalid value is an error from every source. The message names the source, the value and what is allowed. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { afterAll, expect, test } from "vitest";

import { isListed } from "../../host/config/setting.ts";
import { flagOf, settingPaths, settingAt, variableOf } from "../../host/config/settings.ts";
import type { SettingPath } from "../../host/config/settings.ts";
import { tokenAlgorithms } from "../../host/serve/serve-options.ts";
import { originClasses } from "../../shared/origin.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { mistakeOf } from "./settings-of.ts";

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());

interface Row {
  readonly path: SettingPath;
  readonly text: string;
  readonly allowed: string;
}

const file = "the name of a file";
const userId =
  'the id of a user, 1 to 128 bytes without control characters, "/", "\\", leading or trailing space, and other than "." and ' +
  '".." (USER_INVALID)';
const time = "a whole number from 1 to 2147483647";
const port = "a whole number from 0 to 65535";
const url = "an https: URL, or http: on a loopback address";
const metrics = 'an address and a port, as in "127.0.0.1:9464" or "[::1]:9464"';
const origin = 'an origin, as in "https://app.example"';
const path = 'a path of a URL, as in "/mcp", without a "/" at its end';
const classes = originClasses.join(", ");
const client = 'CLIENT=CLASS, as in "web-app=direct_user"';
const texts: readonly Row[] = [
  { path: "data", text: "", allowed: "the name of a folder" },
  { path: "policy", text: "", allowed: file },
  { path: "auditLog", text: "", allowed: file },
  { path: "auditLog", text: "x".repeat(4_097), allowed: file },
  ...["", "a b", 'a"b', "a\\b", "é", "x".repeat(257)].map((text) => ({
    path: "serve.auth.readScope" as const,
    text,
    allowed: "the name of a scope: 1 to 256 printable ASCII characters without space, quotation mark and backslash",
  })),
  { path: "readOnly", text: "yes", allowed: "true or false" },
  { path: "durability", text: "Full", allowed: "full, relaxed" },
  ...["", "0", "-1", "1.5", "1e3", "0x10", " 1", "01", "2147483648", "9".repeat(40), "NaN", "Infinity"].map((text) => ({
    path: "waitMs" as const,
    text,
    allowed: time,
  })),
  { path: "deadlineMs", text: "10s", allowed: time },
  { path: "threadsMax", text: "1025", allowed: "a whole number from 1 to 1024" },
  { path: "serve.user", text: "../eve", allowed: userId },
  ...[
    ["direct-user", "direct_user"],
    ["Owner_Edit", "owner_edit"],
    ["external", "tool_external"],
    ["__proto__", "unstated"],
  ].map(([text = "", nearest]) => ({
    path: "serve.originClass" as const,
    text,
    allowed: `one of ${classes}; did you mean ${nearest}?`,
  })),
  { path: "serve.originClass", text: "", allowed: `one of ${classes}` },
  { path: "serve.auth.clientClaim", text: "", allowed: "1 to 2048 characters without control characters" },
  { path: "serve.auth.originClaim", text: "", allowed: "1 to 2048 characters without control characters" },
  { path: "serve.http", text: "1", allowed: "true or false" },
  { path: "serve.http", text: "", allowed: "true or false" },
  { path: "serve.host", text: "a b", allowed: "an IP address or a host's name, without a port" },
  { path: "serve.port", text: "65536", allowed: port },
  { path: "serve.port", text: "http", allowed: port },
  { path: "serve.path", text: "mcp", allowed: path },
  { path: "serve.path", text: "/mcp/", allowed: path },
  { path: "serve.path", text: "/a/../b", allowed: path },
  { path: "serve.path", text: "/.well-known/x", allowed: path },
  { path: "serve.path", text: "//evil.example", allowed: path },
  { path: "serve.path", text: "/mcp?x", allowed: path },
  { path: "serve.publicUrl", text: "http://memory.example/mcp", allowed: url },
  { path: "serve.publicUrl", text: "https://a:b@memory.example", allowed: url },
  { path: "serve.publicUrl", text: "https://memory.example/?x", allowed: url },
  { path: "serve.publicUrl", text: "http://127.0.0.1.evil.example/", allowed: url },
  { path: "serve.publicUrl", text: "memory.example", allowed: url },
  { path: "serve.metrics", text: "9464", allowed: metrics },
  { path: "serve.metrics", text: "127.0.0.1", allowed: metrics },
  { path: "serve.metrics", text: "127.0.0.1:65536", allowed: metrics },
  { path: "serve.metrics", text: "127.0.0.1:09464", allowed: metrics },
  { path: "serve.metrics", text: "::1:9464", allowed: metrics },
  { path: "serve.metrics", text: "http://127.0.0.1:9464", allowed: metrics },
  { path: "serve.bodyBytesMax", text: "1023", allowed: "a whole number from 1024 to 67108864" },
  { path: "serve.requestsPerMinute", text: "0", allowed: "a whole number from 1 to 1000000" },
  { path: "serve.sessionsPerUserMax", text: "0", allowed: "a whole number from 1 to 10000" },
  { path: "serve.sessionIdleMs", text: "0", allowed: time },
  { path: "serve.closeGraceMs", text: "0", allowed: time },
  { path: "serve.auth.issuer", text: "a\u001b[2J", allowed: "1 to 2048 characters without control characters" },
  { path: "serve.auth.audience", text: "", allowed: "1 to 2048 characters without control characters" },
  { path: "serve.auth.jwks", text: "http://id.example/keys", allowed: `${file}, ${url}` },
  { path: "serve.auth.jwks", text: "file:///etc/passwd", allowed: `${file}, ${url}` },
  { path: "serve.auth.jwks", text: "", allowed: `${file}, ${url}` },
  { path: "serve.auth.publicKey", text: "", allowed: file },
  { path: "serve.auth.userClaim", text: "", allowed: "1 to 2048 characters without control characters" },
  { path: "serve.auth.clockToleranceS", text: "301", allowed: "a whole number from 0 to 300" },
];

test.for(texts)(
  "$path refuses $text, from a variable, a flag and the file",
  async ({ path: at, text, allowed }, { task }) => {
    const isNumber = settingAt(at).form === "number" && /^(?:0|[1-9]\d{0,15})$/.test(text);
    const variable = variableOf(at);
    const said = `is ${isNumber ? text : shown(text)}, allowed: ${allowed}`;
    expect(await mistakeOf([], { [variable]: text })).toBe(`${at} (environment ${variable}) ${said}`);
    if (settingAt(at).form !== "switch") {
      expect(await mistakeOf([`--${flagOf(at)}=${text}`])).toBe(`${at} (flag --${flagOf(at)}) ${said}`);
    }
    const name = `${task.id}.json`;
    const inFile = `${at} (file ${name} "${at}") is ${shown(text)}, allowed: ${allowed}`;
    const key = JSON.stringify(at.split(".").at(-1));
    expect(await mistakeOf(["--config", write(name, at, text)])).toBe(`${inFile} (${placeIn(name, key)})`);
  },
);

const host = "a host's name without a port";
const algorithm = `one of ${tokenAlgorithms.join(", ")}`;
const listed: readonly Row[] = [
  { path: "plugins", text: "", allowed: file },
  ...["", "notes", "=notes", "journal=", "Journal=notes", "../memory=notes", ".memcell=notes", "a b=c"].map((text) => ({
    path: "mounts" as const,
    text,
    allowed: 'SCOPE=DIR, as in "notes=../notes"',
  })),
  { path: "serve.allowedHosts", text: "a.example:80", allowed: host },
  { path: "serve.allowedHosts", text: " b.example", allowed: host },
  { path: "serve.allowedHosts", text: "*", allowed: host },
  { path: "serve.allowedHosts", text: "", allowed: host },
  { path: "serve.allowedOrigins", text: "https://app.example/", allowed: origin },
  { path: "serve.allowedOrigins", text: "https://app.example:443", allowed: origin },
  { path: "serve.allowedOrigins", text: "null", allowed: origin },
  { path: "serve.allowedOrigins", text: "*", allowed: origin },
  ...["", "web", "web=", "=direct_user", "we\u0007b=direct_user"].map((text) => ({
    path: "serve.auth.clientOrigins" as const,
    text,
    allowed: client,
  })),
  { path: "serve.auth.clientOrigins", text: "web=user", allowed: `${client}; did you mean direct_user?` },
  { path: "serve.auth.algorithms", text: "HS256", allowed: algorithm },
  { path: "serve.auth.algorithms", text: "none", allowed: algorithm },
];

test.for(listed)("$path refuses the item $text", async ({ path: at, text, allowed }, { task }) => {
  const said = `is ${shown(text)}, allowed: ${allowed}`;
  const [variable, flag, name] = [variableOf(at), flagOf(at), `${task.id}.json`];
  expect(await mistakeOf([], { [variable]: text })).toBe(`${at}[0] (environment ${variable}) ${said}`);
  expect(await mistakeOf([`--${flag}=${text}`])).toBe(`${at}[0] (flag --${flag}) ${said}`);
  const mistake = await mistakeOf(["--config", write(name, at, [text])]);
  expect(mistake).toBe(`${at}[0] (file ${name} "${at}") ${said} (${placeIn(name, `${JSON.stringify(text)}]`)})`);
});

/** Texts that have few values. */
const oneOfFew: ReadonlySet<SettingPath> = new Set(["durability", "serve.originClass", "serve.path"]);

/** JSON has more types of value than text. */
const kinds: readonly unknown[] = [null, {}, [[]], [1], "1", 1.5, -1, 1e300, true];

test.for(settingPaths)("%s refuses values of other types from the file", async (at, { task }) => {
  const { form } = settingAt(at);
  const fitting = (value: unknown): boolean =>
    form === "switch" ? value === true : typeof value === "string" && form !== "number" && !oneOfFew.has(at);
  for (const [index, value] of kinds.entries()) {
    if (fitting(value)) continue;
    if (isListed(form) && value === "1") continue;
    const name = `${task.id}-${index}.json`;
    expect(await mistakeOf(["--config", write(name, at, value)])).toContain(`(file ${name} "${at}") is `);
  }
});

test("a list has a maximum length", async () => {
  const many = Array.from({ length: 101 }, (_, each) => `h${each}`);
  const says = "is an array, allowed: hosts' names, at most 100";
  expect(await mistakeOf([], { MEMCELL_SERVE_ALLOWED_HOSTS: many.join(",") })).toContain(says);
  expect(await mistakeOf(["--config", write("none.json", "plugins", [])])).toContain(
    "is an empty array, allowed: plugin files, or names of plugins, at least one",
  );
});

test("checks a value even if another source overrides it", async () => {
  expect(await mistakeOf(["--port", "1"], { MEMCELL_SERVE_PORT: "x" })).toContain("environment MEMCELL_SERVE_PORT");
  const config = ["--config", write("overridden.json", "serve.port", "x")];
  expect(await mistakeOf([...config, "--port", "1"], { MEMCELL_SERVE_PORT: "1" })).toContain("file overridden.json");
});

test("refuses a switch given twice, or with a value", async () => {
  expect(await mistakeOf(["--http", "--no-http"])).toBe("--http and --no-http do not go together");
  expect(await mistakeOf(["--http=false"])).toContain("--http");
});

function shown(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text);
}

/** Where a text is in a file that has one line. */
function placeIn(name: string, text: string): string {
  return `line 1, column ${readFileSync(join(folder.path, name), "utf8").indexOf(text) + 1}`;
}

function write(name: string, at: SettingPath, value: unknown): string {
  const place = join(folder.path, name);
  writeFileSync(place, JSON.stringify(at.split(".").reduceRight<unknown>((inner, each) => ({ [each]: inner }), value)));
  return place;
}

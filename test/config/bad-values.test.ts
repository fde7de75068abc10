/** An invalid value is an error from every source. The message names the source, the value and what is allowed. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { afterAll, expect, test } from "vitest";

import { originClasses } from "../../shared/origin.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { fileWith, mistakeOf, settingsOf } from "./settings-of.ts";

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());

const all = (await settingsOf([])).settings;
function settingOf(path: string) {
  const found = all.find(({ setting }) => setting === path);
  if (found === undefined) throw new Error(`there is no setting ${path}`);
  const preset = found.default;
  const isNumber = typeof preset === "number" || ["deadlineMs", "threadsMax"].includes(path);
  return { ...found, isNumber, isSwitch: typeof preset === "boolean", isList: Array.isArray(preset) };
}

const file = "the name of a file";
const time = "a whole number from 1 to 2147483647";
const port = "a whole number from 0 to 65535";
const url = "an https: URL, or http: on a loopback address";
const metrics = 'an address and a port, as in "127.0.0.1:9464" or "[::1]:9464"';
const path = 'a path of a URL, as in "/mcp", without a "/" at its end';
const plain = "1 to 2048 characters without control characters";
const host = "a host's name without a port";
const origin = 'an origin, as in "https://app.example"';
const scope = "the name of a scope: 1 to 256 printable ASCII characters without space, quotation mark and backslash";
const classOf = (nearest: string): string => `one of ${originClasses.join(", ")}; did you mean ${nearest}?`;
const client = 'CLIENT=CLASS, as in "web-app=direct_user"';
const algorithms = `one of ${(settingOf("serve.auth.algorithms").default as string[]).join(", ")}`;
const mount = 'SCOPE=DIR, as in "notes=../notes"';
const userId =
  'the id of a user, 1 to 128 bytes without control characters, "/", "\\", leading or trailing space, and other than "." and ' +
  '".." (USER_INVALID)';
const database =
  "postgres://ROLE@HOST/DATABASE without a password: that comes from PGPASSWORD, or from the file that PGPASSFILE names";

const wrong: readonly (readonly [setting: string, allowed: string, ...texts: readonly string[]])[] = [
  ["data", "the name of a folder", ""],
  ["auditLog", file, "", "x".repeat(4_097)],
  ["readOnly", "true or false", "yes"],
  ["durability", "full, relaxed", "Full"],
  ["waitMs", time, "", "0", "-1", "1.5", "1e3", "0x10", " 1", "01", "2147483648", "9".repeat(40), "NaN", "Infinity"],
  ["threadsMax", "a whole number from 1 to 1024", "1025"],
  ["plugins", file, ""],
  ["mounts", mount, "", "notes", "=notes", "journal=", "Journal=notes", "../memory=notes", ".memcell=notes", "a b=c"],
  ["serve.user", userId, "../eve"],
  ["serve.originClass", classOf("direct_user"), "direct-user"],
  ["serve.originClass", classOf("owner_edit"), "Owner_Edit"],
  ["serve.originClass", classOf("unstated"), "__proto__"],
  ["serve.originClass", `one of ${originClasses.join(", ")}`, ""],
  ["serve.http", "true or false", "1", ""],
  ["serve.host", "an IP address or a host's name, without a port", "a b"],
  ["serve.port", port, "65536", "http"],
  ["serve.path", path, "mcp", "/mcp/", "/a/../b", "/.well-known/x", "//evil.example", "/mcp?x"],
  ["serve.publicUrl", url, "http://memory.example/mcp", "https://a:b@memory.example", "https://memory.example/?x"],
  ["serve.publicUrl", url, "http://127.0.0.1.evil.example/", "memory.example"],
  [
    "serve.metrics",
    metrics,
    "9464",
    "127.0.0.1",
    "127.0.0.1:65536",
    "127.0.0.1:09464",
    "::1:9464",
    "http://[::1]:9464",
  ],
  ["serve.bodyBytesMax", "a whole number from 1024 to 67108864", "1023"],
  ["serve.allowedHosts", host, "a.example:80", " b.example", "*", ""],
  ["serve.allowedOrigins", origin, "https://app.example/", "https://app.example:443", "null", "*"],
  ["serve.auth.issuer", plain, "a\u001b[2J"],
  ["serve.auth.audience", plain, ""],
  ["serve.auth.jwks", `${file}, ${url}`, "http://id.example/keys", "file:///etc/passwd", ""],
  ["serve.auth.readScope", scope, "", "a b", 'a"b', "a\\b", "é", "x".repeat(257)],
  ["serve.auth.clientOrigins", client, "", "web", "web=", "=direct_user", "we\u0007b=direct_user"],
  ["serve.auth.clientOrigins", `${client}; did you mean direct_user?`, "web=user"],
  ["serve.auth.algorithms", algorithms, "HS256", "none"],
  ["serve.auth.clockToleranceS", "a whole number from 0 to 300", "301"],
];

test.for(wrong)("%s refuses what is not %s, from a variable, a flag and the file", async ([at, allowed, ...texts]) => {
  const { variable, flag, isNumber, isSwitch, isList } = settingOf(at);
  const named = isList ? `${at}[0]` : at;
  for (const text of texts) {
    // A number of digits is shown as a number.
    const said = `is ${isNumber && /^(?:0|[1-9]\d{0,15})$/.test(text) ? text : shown(text)}, allowed: ${allowed}`;
    expect(await mistakeOf([], { [variable]: text })).toBe(`${named} (environment ${variable}) ${said}`);
    if (!isSwitch) expect(await mistakeOf([`${flag}=${text}`])).toBe(`${named} (flag ${flag}) ${said}`);
    const inFile = fileWith(at, isList ? [text] : text);
    const place = isList ? `${JSON.stringify(text)}]` : JSON.stringify(at.split(".").at(-1));
    expect(await mistakeOf(["--config", write("bad.json", inFile)])).toBe(
      `${named} (file bad.json "${at}") is ${shown(text)}, allowed: ${allowed} (line 1, column ${inFile.indexOf(place) + 1})`,
    );
  }
});

/** Texts that have few values. */
const oneOfFew = new Set([
  "store",
  "durability",
  "serve.originClass",
  "serve.path",
  "serve.publicUrl",
  "serve.metrics",
]);
/** JSON has more types of value than text. */
const kinds: readonly unknown[] = [null, {}, [[]], [1], "1", 1.5, -1, 1e300, true];

test.for(all.map(({ setting }) => setting))("%s refuses values of other types from the file", async (at) => {
  const { isNumber, isSwitch, isList } = settingOf(at);
  for (const value of kinds) {
    const isText = typeof value === "string";
    if (isSwitch ? value === true : isText && !isNumber && !isList && !oneOfFew.has(at)) continue;
    const said = await mistakeOf(["--config", write("type.json", fileWith(at, value))]);
    expect(said).toContain(`(file type.json "${at}") is `);
  }
});

test.for([
  "postgres://role:topsecret@host/memory",
  "postgres://:topsecret@host/memory",
  "postgres://role@server:topsecret@host/memory",
  "postgres://role@host/memory?password=topsecret",
  "topsecret",
])("what is no address of a database without a password is refused and not shown: %s", async (address) => {
  const said = [await mistakeOf(["--store", address]), await mistakeOf([], { MEMCELL_STORE: address })];
  for (const each of said) {
    expect(each).toContain(`allowed: ${database}`);
    expect(each).not.toContain("topsecret");
  }
});

test("a list has a minimum and a maximum length", async () => {
  const many = Array.from({ length: 101 }, (_, each) => `h${each}`).join(",");
  const says = "is an array, allowed: hosts' names, at most 100";
  expect(await mistakeOf([], { MEMCELL_SERVE_ALLOWED_HOSTS: many })).toContain(says);
  const none = await mistakeOf(["--config", write("none.json", '{"plugins":[]}')]);
  expect(none).toContain("is an empty array, allowed: plugin files, or names of plugins, at least one");
});

test("a value is checked even if another source overrides it", async () => {
  expect(await mistakeOf(["--port", "1"], { MEMCELL_SERVE_PORT: "x" })).toContain("environment MEMCELL_SERVE_PORT");
  const config = ["--config", write("overridden.json", '{"serve":{"port":"x"}}')];
  expect(await mistakeOf([...config, "--port", "1"], { MEMCELL_SERVE_PORT: "1" })).toContain("file overridden.json");
});

test("a switch is refused if it is given twice, or with a value", async () => {
  expect(await mistakeOf(["--http", "--no-http"])).toBe("--http and --no-http do not go together");
  expect(await mistakeOf(["--http=false"])).toContain("--http");
});

// What it should switch on would stay off.
test.for([
  ["MEMCELL_AUDITLOG", "MEMCELL_AUDIT_LOG"],
  ["memcell_audit_log", "MEMCELL_AUDIT_LOG"],
  ["MEMCELL_PLUGIN", "MEMCELL_PLUGINS"],
  ["MEMCELL_USER", "MEMCELL_SERVE_USER"],
  ["MEMCELL_", "MEMCELL_DATA"],
] as const)("the unknown variable %s is an error that suggests %s", async ([variable, nearest]) => {
  const says = `the environment has "${variable}": unknown setting; did you mean ${nearest}?`;
  expect(await mistakeOf([], { [variable]: "x" })).toBe(says);
  expect(await mistakeOf([], { [variable]: "" })).toBe(says);
});

test("a variable's name is shown escaped and shortened", async () => {
  const mistake = await mistakeOf([], { [`MEMCELL_\u001b[2J${"x".repeat(100_000)}`]: "1" });
  expect(mistake).toContain('"MEMCELL_\\u001b[2Jx');
  expect(mistake.length).toBeLessThan(200);
});

function shown(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text);
}

function write(name: string, text: string): string {
  writeFileSync(join(folder.path, name), text, { mode: 0o600 });
  return join(folder.path, name);
}

/** Flags override environment variables, which override the file, which overrides the defaults: for every setting. */
import { writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { delimiter, join } from "node:path";

import { Ajv2020 } from "ajv/dist/2020.js";
import { afterAll, expect, test } from "vitest";

import { configSchema } from "../../host/config/read-settings.ts";
import { memcell } from "../stage/command.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { fileWith, settingsOf } from "./settings-of.ts";

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());
const beside = (name: string): string => join(folder.path, name);

/** Three values: in the file, in a variable, in a flag. Last the one that is held, if the file's is resolved. */
type Row = readonly [setting: string, file: unknown, variable: unknown, flag: unknown, held?: unknown];

const rows: readonly Row[] = [
  ["data", "f", "e", "x", beside("f")],
  ["store", "postgres://a@h/m", "postgresql://b@one:5432,two:5432/m", "postgres://b@/m?host=/run/postgresql"],
  ["connectionsMax", 1, 1000, 7],
  [
    "mounts",
    ["journal=notes", "memory=/abs"],
    ["a=x=y", "b=../z"],
    ["journal=x", "b=/y:,"],
    [`journal=${beside("notes")}`, "memory=/abs"],
  ],
  ["policy", "../f", "../e", "x", join(beside(".."), "f")],
  ["readOnly", true, false, true],
  ["readOnly", false, true, false],
  ["auditLog", "/f", "/e", "/x"],
  // A path that ends in a separator names no file, and keeps it.
  ["auditLog", "log/", "log/", "/x", beside("log/")],
  ["plugins", ["a.wasm", "/b.wasm"], ["c.wasm", "journal"], ["e.wasm", "f:,.wasm"], [beside("a.wasm"), "/b.wasm"]],
  ["detectCredentials", true, false, true],
  ["durability", "relaxed", "full", "relaxed"],
  ["waitMs", 1, 2, 2_147_483_647],
  ["deadlineMs", 1, 2, 3],
  ["threadsMax", 1, 1024, 3],
  ["serve.user", "ann", "bob", "-"],
  ["serve.sharingByModels", true, false, true],
  ["serve.originClass", "owner_edit", "direct_user", "tool_external"],
  ["serve.http", true, false, true],
  ["serve.http", false, true, false],
  ["serve.host", "0.0.0.0", "::1", "a.example"],
  ["serve.port", 0, 80, 65_535],
  ["serve.path", "/", "/m", "/a/b.c/~d"],
  ["serve.allowedHosts", [], ["a.example", "memcell_app"], ["[::1]"]],
  ["serve.allowedOrigins", [], ["https://a.example"], ["http://b.example:81", "https://c.example"]],
  ["serve.publicUrl", "https://a.example/mcp", "http://127.0.0.1:1", "http://[::1]:1/x"],
  ["serve.storage", true, false, true],
  ["serve.agentKeys", "f", "e", "x", beside("f")],
  ["serve.internalValues", true, false, true],
  ["serve.page", true, false, true],
  ["serve.pageClient", "a", "b", "c"],
  ["serve.pageClientSecret", "f", "e", "x", beside("f")],
  ["serve.pageKey", "f", "e", "x", beside("f")],
  ["serve.bodyBytesMax", 1024, 2048, 67_108_864],
  ["serve.requestsPerMinute", 1, 2, 1_000_000],
  ["serve.streamsPerUserMax", 1, 2, 10_000],
  ["serve.closeGraceMs", 1, 2, 3],
  ["serve.metrics", "127.0.0.1:9464", "[::1]:9464", "0.0.0.0:1"],
  ["serve.auth.issuer", "a", "b", "c"],
  ["serve.auth.audience", "a", "b", "c"],
  ["serve.auth.clientsWithoutAudience", ["a"], ["b", "c"], ["d"]],
  ["serve.auth.jwks", "keys.json", "keys.json", "https://id.example/keys", beside("keys.json")],
  ["serve.auth.jwks", "https://id.example/keys", "k", "http://[::1]:1/keys"],
  ["serve.auth.publicKey", "f", "e", "x", beside("f")],
  ["serve.auth.userClaim", "a", "b", "c"],
  ["serve.auth.requireScopes", true, false, true],
  ["serve.auth.scopeClaim", "scp", "b", "c"],
  ["serve.auth.readScope", "r", "a:b/c", "~"],
  ["serve.auth.writeScope", "w", "a:b/c", "~"],
  ["serve.auth.ownerScope", "o", "a:b/c", "~"],
  ["serve.auth.clientClaim", "azp", "b", "c"],
  ["serve.auth.clientOrigins", ["web=unstated"], ["a=owner_edit", "b=unstated"], ["x=y=direct_user"]],
  ["serve.auth.originClaim", "a", "b", "c"],
  ["serve.auth.algorithms", ["ES256"], ["EdDSA", "RS256"], ["PS256", "PS384"]],
  ["serve.auth.clockToleranceS", 300, 0, 7],
];

const all = await settingsOf([]);
/** In variables, lists of files are separated as in PATH. */
const separatorOf = (setting: string): string => (["plugins", "mounts"].includes(setting) ? delimiter : ",");

test("the table has every setting; each has its own flag and variable, derived from its path", () => {
  expect(Array.from(new Set(rows.map(([setting]) => setting)))).toEqual(all.settings.map(({ setting }) => setting));
  for (const key of ["flag", "variable"] as const) {
    expect(new Set(all.settings.map((each) => each[key])).size).toBe(all.settings.length);
  }
  const named = (path: string) => all.settings.find(({ setting }) => setting === path);
  expect(named("auditLog")).toMatchObject({ flag: "--audit-log", variable: "MEMCELL_AUDIT_LOG" });
  expect(named("serve.allowedOrigins")).toMatchObject({ flag: "--allowed-origin" });
  const ofTolerance = { variable: "MEMCELL_SERVE_AUTH_CLOCK_TOLERANCE_S" };
  expect(named("serve.auth.clockToleranceS")).toMatchObject(ofTolerance);
});

test.for(rows)("%s: each source applies where no higher one sets it", async ([path, file, variable, flag, held]) => {
  const setting = all.settings.find((each) => each.setting === path);
  if (setting === undefined) throw new Error(`there is no setting ${path}`);
  writeFileSync(beside("config.json"), fileWith(path, file), { mode: 0o600 });
  const config = ["--config", beside("config.json")];
  const text = Array.isArray(variable) ? variable.join(separatorOf(path)) : String(variable);
  const environment = { [setting.variable]: text };
  const name = flag === false ? setting.flag.replace("--", "--no-") : setting.flag;
  const flags = typeof flag === "boolean" ? [name] : [flag].flat().map((each) => `${name}=${String(each)}`);

  const heldBy = async (args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<unknown> => {
    const { value, from } = (await settingsOf(args, env)).settings.find((each) => each.setting === path) ?? {};
    return [value, from];
  };
  const fromFlag = [flag, { kind: "flag", name }];
  const fromEnvironment = [variable, { kind: "environment", name: setting.variable }];
  expect(await heldBy([...config, ...flags], environment)).toEqual(fromFlag);
  expect(await heldBy(flags)).toEqual(fromFlag);
  expect(await heldBy(config, environment)).toEqual(fromEnvironment);
  expect(await heldBy([], environment)).toEqual(fromEnvironment);
  expect(await heldBy(config)).toEqual([held ?? file, { kind: "file", name: `config.json "${path}"` }]);
  expect(await heldBy([])).toEqual([setting.default, { kind: "default" }]);
});

test("a source that sets one setting leaves the others to other sources", async () => {
  writeFileSync(beside("mixed.json"), '{"data":"d","waitMs":5,"serve":{"port":1}}');
  const environment = { MEMCELL_WAIT_MS: "6", MEMCELL_CONFIG: beside("mixed.json") };
  const { values, file } = await settingsOf(["--path", "/m"], environment);
  expect(values).toMatchObject({ data: beside("d"), waitMs: 6, "serve.port": 1, "serve.path": "/m" });
  expect(file).toBe(beside("mixed.json"));
});

test("--config overrides MEMCELL_CONFIG, whose file does not have to exist then", async () => {
  writeFileSync(beside("one.json"), '{"waitMs":7}');
  const environment = { MEMCELL_CONFIG: beside("absent.json") };
  expect((await settingsOf(["--config", beside("one.json")], environment)).values["waitMs"]).toBe(7);
});

test("all defaults together are a valid file, and other variables are none of ours", async () => {
  const config: Record<string, Record<string, Record<string, unknown>>> = {};
  for (const { setting, default: preset } of all.settings.filter((each) => each.default !== null)) {
    const names = setting.split(".");
    const leaf = names.pop() ?? "";
    const group = names.reduce<Record<string, unknown>>((at, name) => (at[name] ??= {}) as typeof at, config);
    group[leaf] = preset;
  }
  writeFileSync(beside("defaults.json"), JSON.stringify(config), { mode: 0o600 });
  const others = { DATA: "x", PORT: "1", XMEMCELL_DATA: "x", MEMCELLS: "x" };
  const { values } = await settingsOf(["--config", beside("defaults.json")], others);
  expect(values).toEqual({ ...all.values, data: beside("data") });
});

/** After a change of settings, `npx vitest run -u` with this file writes it. */
test("config.schema.json is generated from the table of settings, and accepts each default", async () => {
  const schema = configSchema();
  const text = `${JSON.stringify(schema, null, 2)}\n`;
  await expect(text).toMatchFileSnapshot("../../host/config/config.schema.json");
  const isValid = new Ajv2020({ strict: true }).compile(schema);
  for (const { setting, default: preset } of all.settings) {
    if (preset !== null) expect(isValid(JSON.parse(fileWith(setting, preset))) || isValid.errors).toBe(true);
  }
  for (const wrong of [
    { auditlog: "x" },
    { serve: { port: 65_536 } },
    { serve: { path: "/a/../b" } },
    { plugins: [] },
  ]) {
    expect(isValid(wrong)).toBe(false);
  }
});

test("config prints every setting in columns, and escapes what could harm a terminal", async () => {
  writeFileSync(beside("shown.json"), JSON.stringify({ auditLog: "log/\u202egpj.jsonl", serve: { auth: {} } }));
  const env = { MEMCELL_WAIT_MS: "5000", MEMCELL_PLUGINS: "a\u001b[2J.wasm", MEMCELL_CONFIG: "shown.json" };
  const { status, stdout } = await memcell(["config", "--http", "--no-read-only"], { env, cwd: folder.path });
  expect(status).toBe(0);
  const lines = stdout.trimEnd().split("\n");
  expect(lines).toHaveLength(all.settings.length + 1);
  const cellsOf = (setting: string) =>
    lines
      .find((line) => line.startsWith(`${setting} `))
      ?.split(/ {2,}/)
      .slice(1);
  expect(cellsOf("data")).toEqual(['"data"', "default"]);
  expect(cellsOf("readOnly")).toEqual(["false", "flag --no-read-only"]);
  expect(cellsOf("auditLog")).toEqual([String.raw`"log/\u202egpj.jsonl"`, 'file shown.json "auditLog"']);
  expect(cellsOf("plugins")).toEqual([String.raw`"a\u001b[2J.wasm"`, "environment MEMCELL_PLUGINS"]);
  expect(cellsOf("threadsMax")).toEqual(["(one for each core)", "default"]);
  const json = await memcell(["config", "--json"], { env, cwd: folder.path });
  expect(json.stdout).toMatch(/^[\n\x20-\x7e]*$/);
});

test("--help and the README name every setting in all three ways, even with an invalid file", async () => {
  const { status, stdout } = await memcell(["config", "--help", "--config", "absent.json"]);
  expect(status).toBe(0);
  const options = stdout.replaceAll(/\n {4,}/g, " ");
  const readme = await readFile(new URL("../../host/config/README.md", import.meta.url), "utf8");
  const rowsOf = readme.split("\n").filter((line) => line.startsWith("| `"));
  expect(rowsOf).toHaveLength(all.settings.length);
  for (const [at, { setting, flag, variable, default: preset }] of all.settings.entries()) {
    const form = `^  ${flag} (?:<.*?> )? *(.*?)(?:; may be repeated)? \\(default: (.*); env: ${variable}; file: ${setting}\\)$`;
    const [, meaning, unset] = new RegExp(form, "m").exec(options) ?? [];
    const shown = preset === null ? unset : `\`${typeof preset === "string" ? preset : JSON.stringify(preset)}\``;
    expect(rowsOf[at]).toBe(`| \`${setting}\` | \`${flag}\` | \`${variable}\` | ${meaning} | ${shown} |`);
  }
});

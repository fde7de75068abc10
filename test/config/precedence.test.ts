/** Flags override environment variables, which override the file, which overrides the defaults. */
import { writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";

import { afterAll, expect, test } from "vitest";

import { flagOf, settingAt, settingPaths, variableOf } from "../../host/config/settings.ts";
import type { SettingPath } from "../../host/config/settings.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { settingsOf } from "./settings-of.ts";

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());

interface Row {
  readonly path: SettingPath;
  /** The value as written in the file, the environment and the flags. */
  readonly file: unknown;
  readonly variable: string;
  readonly flags: readonly string[];
  /** The resulting values, where they differ from what is written. */
  readonly held?: { readonly file?: unknown; readonly variable?: unknown; readonly flags?: unknown };
}

const beside = (name: string): string => join(folder.path, name);
const rows: readonly Row[] = [
  { path: "data", file: "f", variable: "e", flags: ["--data", "x"], held: { file: beside("f") } },
  { path: "policy", file: "../f", variable: "../e", flags: ["--policy", "x"], held: { file: join(beside(".."), "f") } },
  { path: "auditLog", file: "/f", variable: "/e", flags: ["--audit-log", "/x"] },
  {
    path: "plugins",
    file: ["a.wasm", "/b.wasm"],
    variable: ["c.wasm", "d.wasm"].join(delimiter),
    flags: ["--plugin", "e.wasm", "--plugin=f:,.wasm"],
    held: {
      file: [beside("a.wasm"), "/b.wasm"],
      variable: ["c.wasm", "d.wasm"],
      flags: ["e.wasm", "f:,.wasm"],
    },
  },
  {
    path: "mounts",
    file: ["journal=notes", "memory=/abs"],
    variable: ["a=x=y", "b=../z"].join(delimiter),
    flags: ["--mount", "journal=x", "--mount=b=/y:,"],
    held: {
      file: [`journal=${beside("notes")}`, "memory=/abs"],
      variable: ["a=x=y", "b=../z"],
      flags: ["journal=x", "b=/y:,"],
    },
  },
  { path: "readOnly", file: true, variable: "false", flags: ["--read-only"], held: { variable: false, flags: true } },
  {
    path: "readOnly",
    file: false,
    variable: "true",
    flags: ["--no-read-only"],
    held: { variable: true, flags: false },
  },
  { path: "durability", file: "relaxed", variable: "full", flags: ["--durability", "relaxed"] },
  { path: "waitMs", file: 1, variable: "2", flags: ["--wait-ms", "3"], held: { variable: 2, flags: 3 } },
  { path: "serve.port", file: 0, variable: "80", flags: ["--port=65535"], held: { variable: 80, flags: 65_535 } },
  { path: "serve.http", file: true, variable: "false", flags: ["--http"], held: { variable: false, flags: true } },
  { path: "serve.http", file: false, variable: "true", flags: ["--no-http"], held: { variable: true, flags: false } },
  { path: "serve.user", file: "ann", variable: "bob", flags: ["--user", "-"] },
  {
    path: "serve.allowedHosts",
    file: [],
    variable: "a.example,b.example",
    flags: ["--allowed-host", "c.example"],
    held: { variable: ["a.example", "b.example"], flags: ["c.example"] },
  },
  {
    path: "serve.auth.algorithms",
    file: ["ES256"],
    variable: "EdDSA,RS256",
    flags: ["--algorithm", "PS256", "--algorithm", "PS384"],
    held: { variable: ["EdDSA", "RS256"], flags: ["PS256", "PS384"] },
  },
  {
    path: "serve.auth.jwks",
    file: "keys.json",
    variable: "keys.json",
    flags: ["--jwks", "https://id.example/keys"],
    held: { file: beside("keys.json") },
  },
  { path: "serve.auth.jwks", file: "https://id.example/keys", variable: "k", flags: ["--jwks", "http://[::1]:1/keys"] },
  {
    path: "serve.auth.clockToleranceS",
    file: 300,
    variable: "0",
    flags: ["--clock-tolerance-s", "7"],
    held: { variable: 0, flags: 7 },
  },
];

test.for(rows)("$path: each source applies where no higher one sets it", async (row, { task }) => {
  const { path, file, variable, flags, held = {} } = row;
  const name = `${task.id}.json`;
  writeFileSync(beside(name), fileOf(path, file));
  const environment = { [variableOf(path)]: variable };
  const config = ["--config", beside(name)];

  const heldBy = async (args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<unknown> => {
    const { values, sources } = await settingsOf(args, env);
    return [values[path], sources[path]];
  };
  const fromFlag = [held.flags ?? flags[1], { kind: "flag", name: flags[0]?.replace(/=.*/, "") }];
  const fromEnvironment = [held.variable ?? variable, { kind: "environment", name: variableOf(path) }];
  expect(await heldBy([...config, ...flags], environment)).toEqual(fromFlag);
  expect(await heldBy(flags)).toEqual(fromFlag);
  expect(await heldBy(config, environment)).toEqual(fromEnvironment);
  expect(await heldBy([], environment)).toEqual(fromEnvironment);
  expect(await heldBy(config)).toEqual([held.file ?? file, { kind: "file", name: `${name} "${path}"` }]);
  expect(await heldBy([])).toEqual([settingAt(path).default, { kind: "default" }]);
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
  expect((await settingsOf(["--config", beside("one.json")], environment)).values.waitMs).toBe(7);
});

test("each setting has its own flag and variable, derived from its path", () => {
  expect(new Set(settingPaths.map(flagOf)).size).toBe(settingPaths.length);
  expect(new Set(settingPaths.map(variableOf)).size).toBe(settingPaths.length);
  expect([flagOf("auditLog"), variableOf("auditLog")]).toEqual(["audit-log", "MEMCELL_AUDIT_LOG"]);
  expect(flagOf("serve.allowedOrigins")).toBe("allowed-origin");
  expect(variableOf("serve.auth.clockToleranceS")).toBe("MEMCELL_SERVE_AUTH_CLOCK_TOLERANCE_S");
});

test.for(settingPaths)("the default of %s is a valid value", (path) => {
  const { default: preset, schema, unset } = settingAt(path);
  if (preset === null) expect(unset).toMatch(/./);
  else expect(schema()["~standard"].validate(preset)).toEqual({ value: preset });
});

function fileOf(path: SettingPath, value: unknown): string {
  return JSON.stringify(path.split(".").reduceRight((inner: unknown, name) => ({ [name]: inner }), value));
}

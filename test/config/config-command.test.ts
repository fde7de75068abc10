/** `memcell config`: the values in effect, and the source of each. */
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { afterAll, expect, test } from "vitest";

import { flagOf, settingAt, settingPaths, variableOf } from "../../host/config/settings.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const program = fileURLToPath(new URL("../../dist/host/cli/main.js", import.meta.url));
const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());

writeFileSync(
  join(folder.path, "memcell.config.json"),
  JSON.stringify({ auditLog: "log/\u202egpj.jsonl", serve: { user: "alice", auth: {} } }),
);

function config(args: readonly string[]): { readonly status: number | null; readonly stdout: string } {
  const env = { ...process.env, MEMCELL_WAIT_MS: "5000", MEMCELL_PLUGINS: "a\u001b[2J.wasm" };
  const named = args.includes("--config") ? [] : ["--config", "."];
  const options = { cwd: folder.path, env, encoding: "utf8" } as const;
  return spawnSync(process.execPath, [program, "config", ...named, ...args], options);
}

test("prints every setting in columns, and escapes what could harm a terminal", () => {
  const { status, stdout } = config(["--http", "--port", "0"]);
  expect(status).toBe(0);
  const lines = stdout.trimEnd().split("\n");
  expect(lines).toHaveLength(settingPaths.length + 1);
  expect(lines.slice(0, 14).join("\n")).toMatchInlineSnapshot(`
    "setting                     value                                 from
    data                        "data"                                default
    store                       (the data folder keeps it)            default
    connectionsMax              10                                    default
    mounts                      (none)                                default
    policy                      (what the tools of the package need)  default
    readOnly                    false                                 default
    auditLog                    "log/\\u202egpj.jsonl"                 file memcell.config.json "auditLog"
    plugins                     "a\\u001b[2J.wasm"                     environment MEMCELL_PLUGINS
    detectCredentials           false                                 default
    durability                  "full"                                default
    waitMs                      5000                                  environment MEMCELL_WAIT_MS
    deadlineMs                  (what plugin and policy say)          default
    threadsMax                  (one for each core)                   default"
  `);
});

test("--json prints for machines", () => {
  const { status, stdout } = config(["--json", "--no-http"]);
  expect(status).toBe(0);
  expect(stdout).toMatch(/^[\n\x20-\x7e]*$/);
  const { file, settings } = JSON.parse(stdout) as { file: string; settings: { setting: string }[] };
  expect(file).toBe("memcell.config.json");
  expect(settings.map(({ setting }) => setting)).toEqual(settingPaths);
  expect(settings.find(({ setting }) => setting === "auditLog")).toEqual({
    setting: "auditLog",
    value: "log/\u202egpj.jsonl",
    from: { kind: "file", name: 'memcell.config.json "auditLog"' },
    flag: "--audit-log",
    variable: "MEMCELL_AUDIT_LOG",
    default: null,
  });
  expect(settings.find(({ setting }) => setting === "serve.http")).toMatchObject({
    value: false,
    from: { kind: "flag", name: "--no-http" },
  });
});

test("invalid arguments exit with 2, and nothing is printed", () => {
  expect(config(["--port", "x"])).toMatchObject({ status: 2, stdout: "" });
  expect(config(["surplus"])).toMatchObject({ status: 2, stdout: "" });
});

test("--help names every setting in all three ways, even with an invalid file", () => {
  const { status, stdout } = config(["--help", "--config", "absent.json"]);
  expect(status).toBe(0);
  const options = stdout.replaceAll(/\n {4,}/g, " ");
  for (const path of settingPaths) {
    const names = new RegExp(`^  --${flagOf(path)} .*; env: ${variableOf(path)}; file: ${path}\\)$`, "m");
    expect(options).toMatch(names);
  }
});

test("the README has a row for every setting, and no other rows", () => {
  const text = readFileSync(new URL("../../host/config/README.md", import.meta.url), "utf8");
  const rows = text.split("\n").filter((line) => line.startsWith("| `"));
  const expected = settingPaths.map((path) => {
    const { default: preset, unset, meaning } = settingAt(path);
    const shown = preset === null ? unset : `\`${Array.isArray(preset) ? JSON.stringify(preset) : String(preset)}\``;
    return `| \`${path}\` | \`--${flagOf(path)}\` | \`${variableOf(path)}\` | ${meaning} | ${shown} |`;
  });
  expect(rows).toEqual(expected);
});

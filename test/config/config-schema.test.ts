/** The published JSON Schema matches the host's check. After a change, `npx vitest run -u` with this file writes it. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { Ajv2020 } from "ajv/dist/2020.js";
import { afterAll, expect, test } from "vitest";

import { configSchema } from "../../host/config/config-schema.ts";
import { settingAt, settingPaths } from "../../host/config/settings.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { mistakeOf, settingsOf } from "./settings-of.ts";

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());

test("config.schema.json is generated from the table of settings", async () => {
  await expect(`${JSON.stringify(configSchema(), null, 2)}\n`).toMatchFileSnapshot(
    "../../host/config/config.schema.json",
  );
});

const published = readFileSync(new URL(import.meta.resolve("memcell/config.schema.json")), "utf8");
const isValid = new Ajv2020({ strict: true }).compile(JSON.parse(published) as object);

test("both accept all defaults together", async () => {
  const config: Record<string, Record<string, Record<string, unknown>>> = {};
  for (const path of settingPaths) {
    const { default: preset } = settingAt(path);
    const names = path.split(".");
    const leaf = names.pop() ?? "";
    const at = names.reduce<Record<string, unknown>>((group, name) => (group[name] ??= {}) as typeof group, config);
    if (preset !== null) at[leaf] = preset;
  }
  expect(isValid(config) || isValid.errors).toBe(true);
  expect(await settingsOf(["--config", write("defaults.json", config)])).toMatchObject({
    values: { "serve.port": 7391 },
  });
});

test.for([
  { name: "an unknown name", file: { auditlog: "x" } },
  { name: "an unknown name inside", file: { serve: { auth: { issue: "x" } } } },
  { name: "an empty name of a file", file: { policy: "" } },
  { name: "a port out of range", file: { serve: { port: 65_536 } } },
  { name: "a number that is a text", file: { waitMs: "1" } },
  { name: "no plugins", file: { plugins: [] } },
  { name: "an unsigned token", file: { serve: { auth: { algorithms: ["none"] } } } },
  { name: "an unknown class", file: { serve: { originClass: "root" } } },
  { name: "a path that climbs", file: { serve: { path: "/a/../b" } } },
  { name: "an invalid group", file: { serve: 1 } },
])("both refuse $name", async ({ file }, { task }) => {
  expect(isValid(file)).toBe(false);
  expect(await mistakeOf(["--config", write(`${task.id}.json`, file)])).toMatch(/./);
});

function write(name: string, config: unknown): string {
  writeFileSync(join(folder.path, name), JSON.stringify(config));
  return join(folder.path, name);
}

/** The published JSON Schema matches the host's check. After a change, `npx vitest run -u` with this file writes it. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { Ajv2020 } from "ajv/dist/2020.js";
import { afterAll, expect, test } from "vitest";

import { configSchema } from "../../host/config/config-schema.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { fileWith, mistakeOf, settingsOf } from "./settings-of.ts";

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());

test("config.schema.json is generated from the table of settings", async () => {
  await expect(`${JSON.stringify(configSchema(), null, 2)}\n`).toMatchFileSnapshot(
    "../../host/config/config.schema.json",
  );
});

const published = readFileSync(new URL(import.meta.resolve("memcell/config.schema.json")), "utf8");
const isValid = new Ajv2020({ strict: true }).compile(JSON.parse(published) as object);

test("it accepts every default", async () => {
  for (const { setting, default: preset } of (await settingsOf([])).settings) {
    if (preset !== null) expect(isValid(JSON.parse(fileWith(setting, preset))) || isValid.errors).toBe(true);
  }
});

test.for([
  ["an unknown name", { auditlog: "x" }],
  ["an empty name of a file", { policy: "" }],
  ["a port out of range", { serve: { port: 65_536 } }],
  ["no plugins", { plugins: [] }],
  ["an unsigned token", { serve: { auth: { algorithms: ["none"] } } }],
  ["an unknown class", { serve: { originClass: "root" } }],
  ["a path that climbs", { serve: { path: "/a/../b" } }],
] as const)("both refuse %s", async ([, file]) => {
  expect(isValid(file)).toBe(false);
  const place = join(folder.path, "config.json");
  writeFileSync(place, JSON.stringify(file));
  expect(await mistakeOf(["--config", place])).toMatch(/./);
});

/** The host's own file of zod: nothing of the package is loaded beside it. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { expect, test } from "vitest";

import * as source from "../../shared/zod.ts";

const file = fileURLToPath(new URL("../../dist/shared/zod.js", import.meta.url));
const text = readFileSync(file, "utf8");

test("it imports nothing, and has zod's licence but no other language's messages", () => {
  expect(text).not.toMatch(/^(?:import|export) .*from /m);
  expect(text).toContain("Copyright (c) 2025 Colin McDonnell");
  expect(text).not.toContain("Invalid input: esperado");
  expect(text).not.toContain("Ungültige Eingabe");
});

test("it has what its source exports, and works", async () => {
  const bundled = (await import(file)) as typeof source;
  expect(Object.keys(bundled).toSorted()).toEqual(Object.keys(source).toSorted());
  const schema = bundled.strictObject({ name: bundled.string().check(bundled.maxLength(3)) });
  expect(bundled.safeParse(schema, { name: "abc" }).success).toBe(true);
  expect(bundled.safeParse(schema, { name: "abcd" }).success).toBe(false);
  expect(bundled.safeParse(schema, { other: 1 }).success).toBe(false);
});

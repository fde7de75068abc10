/** The files of the host that are bundled: they import no other file, and do what their sources do. */
import { readFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { fileURLToPath } from "node:url";

import { expect, test } from "vitest";

import * as source from "../../shared/zod.ts";

const shipped = (path: string): string => fileURLToPath(new URL(`../../dist/${path}`, import.meta.url));
const zod = shipped("shared/zod.js");

const importsOf = (text: string): string[] =>
  [...text.matchAll(/^(?:import|export)\b[^;]*?\bfrom "([^"]+)";$|^import "([^"]+)";$/gm)].map(
    ([, from, alone]) => from ?? alone ?? "",
  );

test("what the host uses of zod is one file, with its licence and without other languages", () => {
  const text = readFileSync(zod, "utf8");
  expect(importsOf(text)).toEqual([]);
  expect(text).toContain("Copyright (c) 2025 Colin McDonnell");
  expect(text).not.toContain("Ungültige Eingabe");
});

test("it has what its source exports, and works", async () => {
  const bundled = (await import(zod)) as typeof source;
  expect(Object.keys(bundled).toSorted()).toEqual(Object.keys(source).toSorted());
  const schema = bundled.strictObject({ name: bundled.string().check(bundled.maxLength(3)) });
  expect(bundled.safeParse(schema, { name: "abc" }).success).toBe(true);
  expect(bundled.safeParse(schema, { name: "abcd" }).success).toBe(false);
  expect(bundled.safeParse(schema, { other: 1 }).success).toBe(false);
});

test("the code of a thread is one file beside its packages, with the licence of what is in it", () => {
  const text = readFileSync(shipped("host/thread/worker.js"), "utf8");
  const packages = importsOf(text).filter((name) => !isBuiltin(name));
  // It would be that of the bundle, which is good enough to find packages from, when they are needed.
  expect(text.replace("createRequire(import.meta.url)", "")).not.toContain("import.meta");
  expect(packages).toEqual(["@extism/extism"]);
  expect(text).toContain("Copyright (c) 2025 Colin McDonnell");
});

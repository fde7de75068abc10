/** The plugin file: its imports and its size. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

import { expect, test } from "vitest";

import { artifactLimitsOf } from "../../build/artifact-limits.ts";
import { capabilityNames, kernelSignatures } from "../../shared/abi.ts";
import { manifestSection } from "../../shared/manifest.ts";
import { customSections, readSections, sectionIds } from "../../shared/wasm-sections.ts";
import { numbersIn } from "../documents/markdown-table.ts";
import { textOf } from "../documents/tracked-files.ts";
import { manifestOf } from "../support/reseal-plugin.ts";
import { shippedNames, shippedPlugin } from "../support/test-plugin.ts";

const wasm = readFileSync(shippedPlugin("user-memory"));
/** Those of ABI version 1. */
const capabilities = capabilityNames.filter((name) => !name.startsWith("grant_")).toSorted();
const module = await WebAssembly.compile(wasm);

test("the plugin imports the kernel's subset and the five capabilities, and no WASI", () => {
  const imports = WebAssembly.Module.imports(module);
  const from = (name: string): string[] => imports.filter((each) => each.module === name).map((each) => each.name);
  expect(from("extism:host/user").toSorted()).toEqual(capabilities);
  expect(from("extism:host/env").filter((name) => !(name in kernelSignatures))).toEqual([]);
  expect(new Set(imports.map((each) => each.module))).toEqual(new Set(["extism:host/env", "extism:host/user"]));
  expect(new Set(imports.map((each) => each.kind))).toEqual(new Set(["function"]));
});

test.each(shippedNames())("%s is as small as promised, also when gzipped", (name) => {
  const shipped = readFileSync(shippedPlugin(name));
  const { bytesMax, zippedBytesMax } = artifactLimitsOf(name);
  expect(shipped.length).toBeLessThanOrEqual(bytesMax);
  expect(gzipSync(shipped).length).toBeLessThanOrEqual(zippedBytesMax);
});

test.each(shippedNames())("%s keeps no code of zod", (name) => {
  const text = readFileSync(shippedPlugin(name)).toString("latin1");
  for (const trace of ["ZodMini", "$ZodType", "unrecognized_keys"]) expect(text).not.toContain(trace);
});

/** No reader of the project needs it. */
const codeSection = 10;

test("build/README.md says how large the parts are", () => {
  const sections = readSections(wasm);
  const sizeOf = (id: number): number => sections.find((section) => section.id === id)?.payload.length ?? 0;
  const [section = new Uint8Array()] = customSections(sections, manifestSection);
  const pages = manifestOf(wasm).tools.map(({ documentation = "" }) => Buffer.byteLength(documentation));
  const largest = Math.max(...shippedNames().map((name) => readFileSync(shippedPlugin(name)).length));
  const parts = [wasm.length, sizeOf(codeSection), sizeOf(sectionIds.data), section.length];
  const told = [...parts, pages.reduce((sum, bytes) => sum + bytes, 0), largest].map((bytes) =>
    Math.round(bytes / 1000),
  );
  const [, paragraph = ""] = textOf("build/README.md").split("**Where do the ");
  expect(numbersIn(paragraph).slice(0, told.length)).toEqual(told);
});

test("interface.d.ts names the file's exports and imports", () => {
  const declared = readFileSync(new URL("../../plugin/user-memory/interface.d.ts", import.meta.url), "utf8");
  const names = (pattern: RegExp): string[] =>
    Array.from(declared.matchAll(pattern), ([, name = ""]) => name).toSorted();
  const exported = WebAssembly.Module.exports(module).filter(({ kind }) => kind === "function");
  expect(names(/export function (\w+)\(\): I32/g)).toEqual(exported.map(({ name }) => name).toSorted());
  expect(names(/^ {4}(\w+)\(request: PTR\): PTR;/gm)).toEqual(capabilities);
});

test("the file contains no path of the machine that built it", () => {
  const text = wasm.toString("latin1");
  for (const trace of [fileURLToPath(new URL("../..", import.meta.url)), "node_modules", "/tmp/", "/home/"]) {
    expect(text).not.toContain(trace);
  }
});

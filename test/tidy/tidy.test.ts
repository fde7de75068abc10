/** The tree keeps its own rules: allowed imports, one importer for each package, names, sizes, no circles. */
import { expect, test } from "vitest";

import { circleIn, folderCircles } from "./circles.ts";
import { imports, sources, textOf, tracked } from "./imports.ts";

const areaOf = (file: string): string => file.split("/")[0] ?? "";
const hostImportersOf = (module: string): string[] =>
  imports.filter(({ from, to }) => areaOf(from) === "host" && to.startsWith(module)).map(({ from }) => from);
const isLocal = (specifier: string): boolean => /^(host|plugin|shared|build|test)\//.test(specifier);

/** The areas that an area can import. Only the plugins and their unit tests import the plugins' code. */
const mayImport: Record<string, readonly string[]> = {
  shared: ["shared"],
  plugin: ["plugin", "shared"],
  host: ["host", "shared"],
  build: ["build", "shared"],
};

test("areas import only: plugin → shared ← host, build → shared", () => {
  const wrong = imports.filter(
    ({ from, to }) => isLocal(to) && areaOf(from) in mayImport && !mayImport[areaOf(from)]?.includes(areaOf(to)),
  );
  expect(wrong).toEqual([]);
});

test("only plugins, unit and fuzz tests, and the comparison of searches import plugin code", () => {
  const allowed = /^(plugin|test\/unit|test\/fuzz|test\/plugins|test\/bench\/search)\//;
  expect(imports.filter(({ from, to }) => to.startsWith("plugin/") && !allowed.test(from))).toEqual([]);
});

test("shared and plugin import nothing from Node", () => {
  const wrong = imports.filter(({ from, to }) => ["shared", "plugin"].includes(areaOf(from)) && to.startsWith("node:"));
  expect(wrong).toEqual([]);
});

/** Every package imported outside tests, and its only importer. */
const soleImporters: Record<string, string> = {
  "@extism/extism": "host/guest/extism-plugin.ts",
  "@modelcontextprotocol/server": "host/serve/mcp/sdk.ts",
  "@modelcontextprotocol/server/stdio": "host/serve/mcp/sdk.ts",
  "@opentelemetry/api": "host/audit/collect/open-telemetry.ts",
  "@opentelemetry/exporter-prometheus": "host/serve/metrics/sdk.ts",
  "@opentelemetry/sdk-metrics": "host/serve/metrics/sdk.ts",
  "@secretlint/secretlint-rule-preset-recommend": "host/detect/credential-rules.ts",
  // Its types alone.
  "@secretlint/types": "host/detect/credential-rules.ts",
  commander: "host/cli/commander.ts",
  diff: "host/owner/diff-thread.ts",
  "fastest-levenshtein": "shared/nearest-name.ts",
  jose: "host/serve/jose.ts",
  "jsonc-parser": "host/values/json-place.ts",
  "fs-native-extensions": "host/disk/native-calls.ts",
  oauth4webapi: "host/serve/page/sign-in.ts",
  ora: "host/cli/progress.ts",
  pg: "host/store/postgres/connections.ts",
  piscina: "host/thread/threads.ts",
  "string-width": "host/cli/columns.ts",
  "wrap-ansi": "host/report/text-report.ts",
  yauzl: "host/archive/read-zip.ts",
  "zod/mini": "shared/zod.ts",
  "lossless-json": "shared/run-history/lossless.ts",
  "@langchain/langgraph-checkpoint": "shared/langgraph/langgraph.ts",
  // Its types alone.
  "@anthropic-ai/sdk/helpers/beta/memory": "shared/anthropic/memory-tool.ts",
  "@noble/hashes/sha2.js": "plugin/kit/long-name.deferred.ts",
  esbuild: "build/bundle.ts",
  "@cyclonedx/cyclonedx-library": "build/sbom.ts",
  "gray-matter": "plugin/kit/yaml.deferred.ts",
  "js-yaml": "plugin/kit/yaml.deferred.ts",
};

test("each package has one importer", () => {
  const packages = imports.filter(({ from, to }) => areaOf(from) !== "test" && !isLocal(to) && !to.startsWith("node:"));
  const importers = Object.fromEntries(packages.map(({ to }) => [to, [] as string[]]));
  for (const { from, to } of packages) if (!importers[to]?.includes(from)) importers[to]?.push(from);
  expect(importers).toEqual(Object.fromEntries(Object.entries(soleImporters).map(([name, file]) => [name, [file]])));
});

test("only disk/ touches users' files, and nothing in the store joins paths", () => {
  const disks = /^host\/disk\//;
  const touching = hostImportersOf("node:fs")
    .filter((file) => !disks.test(file))
    .toSorted();
  expect(touching).toEqual([
    "host/archive/archive-file.ts",
    "host/archive/read-source.ts",
    "host/cli/commands/open-command.ts",
    "host/cli/editor.ts",
    "host/report/page/write-page.ts",
    "host/values/package-file.ts",
  ]);
  expect(hostImportersOf("node:path").toSorted()).toEqual([
    "host/audit/log/log-place.ts",
    "host/config/find-config-file.ts",
    "host/config/read-settings.ts",
    "host/disk/bounded-file.ts",
    "host/disk/folder-handle.ts",
    "host/disk/leads-into.ts",
    "host/disk/others-can-write.ts",
    "host/disk/pinned-directory.ts",
    "host/plugins/artifact/artifact-file.ts",
    "host/plugins/bundled-plugins.ts",
    "host/plugins/catalog.ts",
    "host/plugins/policy/load-policy.ts",
    "host/runtime/runtime-options.ts",
    "host/store/files/define-files.ts",
  ]);
});

const importersOf = (file: string): string[] => imports.filter(({ to }) => to === file).map(({ from }) => from);

test("only its thread loads the rules about credentials", () => {
  expect(importersOf("host/detect/credential-rules.ts")).toEqual(["host/detect/credential-thread.ts"]);
  expect(importersOf("host/detect/credential-thread.ts")).toEqual([]);
});

test("the host starts no programs but the editor and the browser of a person at a terminal", () => {
  expect(hostImportersOf("node:child_process").toSorted()).toEqual([
    "host/cli/commands/open-command.ts",
    "host/cli/editor.ts",
  ]);
});

test("no circle between files", () => {
  const next = new Map<string, string[]>();
  for (const { from, to } of imports.filter((each) => isLocal(each.to)))
    next.set(from, [...(next.get(from) ?? []), to]);
  expect(circleIn(sources, (file) => next.get(file) ?? [])).toBeNull();
});

const ofProduct = imports.filter(({ from, to }) => areaOf(from) !== "test" && isLocal(to));

/**
 * At each level of the tree, the folders and files next to each other form no circle. A folder and the one that
 * contains it can import from each other, but two folders at the same level never do, even through a third.
 */
test("no circle between folders", () => {
  expect(folderCircles(ofProduct)).toEqual([]);
});

test("finds a circle between two folders", () => {
  const seeded = [
    ...ofProduct,
    { from: "host/values/ids.ts", to: "host/store/store.ts" },
    { from: "host/store/files/commit/recover.ts", to: "host/store/files/examine.ts" },
  ];
  expect(folderCircles(seeded)).toEqual([
    "host: disk → values → store → disk",
    "host/store/files: commit → examine.ts → commit",
  ]);
});

test("host/ has only index.ts, documents and folders", () => {
  const loose = tracked.filter((file) => /^host\/[^/]+$/.test(file));
  expect(loose).toEqual(["host/README.md", "host/index.ts"]);
});

test("file names say what a file is about", () => {
  const vague = /(^|[/-])(utils?|helpers?|common|misc|lib|manager)([./-]|$)/;
  expect(tracked.filter((file) => vague.test(file))).toEqual([]);
  expect(sources.filter((file) => !/^[a-z0-9./-]+$/.test(file))).toEqual([]);
});

test("no source file is longer than 400 lines", () => {
  expect(sources.filter((file) => textOf(file).split("\n").length > 401)).toEqual([]);
});

test("no unfinished marks, silenced types or skipped tests", () => {
  const marks = /TOD[O]|FIXM[E]|@ts-ignor[e]|\.(skip|only|todo)\(/;
  // A missing toolchain is a reason to skip, and the reason is printed.
  const maySkip = new Set(["test/support/skip-with-reason.ts"]);
  expect(sources.filter((file) => !maySkip.has(file) && marks.test(textOf(file)))).toEqual([]);
});

const lockFiles = tracked.filter((file) => /(^|\/)package-lock\.json$/.test(file));

test.for(lockFiles)("%s names no registry", (file) => {
  expect(textOf(file)).not.toMatch(/"resolved": *"https?:/);
});

test.for(lockFiles)("%s holds every platform's optional packages", (file) => {
  // An install leaves out packages that its registry does not offer, and "npm ci" then refuses the lock file elsewhere.
  const { packages } = JSON.parse(textOf(file)) as {
    packages: Record<string, { optionalDependencies?: Record<string, string> }>;
  };
  const optional = Object.values(packages).flatMap((each) => Object.keys(each.optionalDependencies ?? {}));
  expect(optional.filter((name) => !(`node_modules/${name}` in packages))).toEqual([]);
});

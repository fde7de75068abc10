/** The tree keeps its own rules: who may import whom, one importer for each package, names, sizes, no cycles. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";

import { expect, test } from "vitest";

const projectFolder = fileURLToPath(new URL("../..", import.meta.url));
const tracked = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], {
  cwd: projectFolder,
  encoding: "utf8",
})
  .trim()
  .split("\n");
const sources = tracked.filter((file) => file.endsWith(".ts") && !file.endsWith(".d.ts"));
const textOf = (file: string): string => readFileSync(join(projectFolder, file), "utf8");

interface Import {
  readonly from: string;
  /** A path from the project's folder, or a package's name. */
  readonly to: string;
}

const imports: Import[] = sources.flatMap((from) =>
  Array.from(textOf(from).matchAll(/^(?:import|export)\s[^;]*?from "([^"]+)";|^import "([^"]+)";/gm), (found) => {
    const specifier = found[1] ?? found[2] ?? "";
    return { from, to: specifier.startsWith(".") ? normalize(join(dirname(from), specifier)) : specifier };
  }),
);

const areaOf = (file: string): string => file.split("/")[0] ?? "";
const hostImportersOf = (module: string): string[] =>
  imports.filter(({ from, to }) => areaOf(from) === "host" && to.startsWith(module)).map(({ from }) => from);
const isLocal = (specifier: string): boolean => /^(host|plugin|shared|build|test)\//.test(specifier);

/** Which areas an area may import. Nothing imports the plugins' code but the plugins and their unit tests. */
const mayImport: Record<string, readonly string[]> = {
  shared: ["shared"],
  plugin: ["plugin", "shared"],
  host: ["host", "shared"],
  build: ["build", "shared"],
};

test("arrows: plugin → shared ← host, build → shared", () => {
  const wrong = imports.filter(
    ({ from, to }) => isLocal(to) && areaOf(from) in mayImport && !mayImport[areaOf(from)]?.includes(areaOf(to)),
  );
  expect(wrong).toEqual([]);
});

test("nothing imports plugin code but plugins, unit tests and fuzz tests", () => {
  const allowed = /^(plugin|test\/unit|test\/fuzz|test\/plugins)\//;
  expect(imports.filter(({ from, to }) => to.startsWith("plugin/") && !allowed.test(from))).toEqual([]);
});

test("shared and plugin import nothing of Node", () => {
  const wrong = imports.filter(({ from, to }) => ["shared", "plugin"].includes(areaOf(from)) && to.startsWith("node:"));
  expect(wrong).toEqual([]);
});

/** Every package that is imported outside tests, where, and so why it is there. */
const soleImporters: Record<string, string> = {
  "@extism/extism": "host/guest/extism-plugin.ts",
  "@modelcontextprotocol/server": "host/serve/mcp/sdk.ts",
  "@modelcontextprotocol/server/stdio": "host/serve/mcp/sdk.ts",
  "@opentelemetry/api": "host/telemetry.ts",
  jose: "host/serve/http/jose.ts",
  "rate-limiter-flexible": "host/serve/http/rate-limit.ts",
  "fs-native-extensions": "host/store/files/disk/native-calls.ts",
  ora: "host/cli/progress.ts",
  piscina: "host/pool.ts",
  yauzl: "host/archive/read-zip.ts",
  yazl: "host/archive/write-zip.ts",
  "zod/mini": "shared/zod.ts",
  esbuild: "build/bundle.ts",
  "@cyclonedx/cyclonedx-library": "build/sbom.ts",
  "gray-matter": "plugin/user-memory/yaml.deferred.ts",
  "js-yaml": "plugin/user-memory/yaml.deferred.ts",
};

test("each package has one importer", () => {
  const packages = imports.filter(({ from, to }) => areaOf(from) !== "test" && !isLocal(to) && !to.startsWith("node:"));
  const importers = Object.fromEntries(packages.map(({ to }) => [to, [] as string[]]));
  for (const { from, to } of packages) if (!importers[to]?.includes(from)) importers[to]?.push(from);
  expect(importers).toEqual(Object.fromEntries(Object.entries(soleImporters).map(([name, file]) => [name, [file]])));
});

test("only the store's disk folder touches users' files, and nothing in the store joins paths but places", () => {
  const disks = /^host\/(store\/files|audit)\/disk\//;
  const touching = hostImportersOf("node:fs")
    .filter((file) => !disks.test(file))
    .toSorted();
  expect(touching).toEqual([
    "host/archive/archive-file.ts",
    "host/plugin-file.ts",
    "host/provenance/rebuild-sources.ts",
    "host/report/page/write-page.ts",
  ]);
  expect(hostImportersOf("node:path").toSorted()).toEqual([
    "host/artifact/artifact-file.ts",
    "host/audit/disk/log-location.ts",
    "host/audit/log-files.ts",
    "host/audit/open-log-files.ts",
    "host/bundled-plugins.ts",
    "host/catalog.ts",
    "host/check-mounts.ts",
    "host/config/file-places.ts",
    "host/plugin-file.ts",
    "host/policy/load-policy.ts",
    "host/provenance/compare-rebuild.ts",
    "host/provenance/rebuild-sources.ts",
    "host/runtime-options.ts",
    "host/store/files/disk/data-root.ts",
    "host/store/files/disk/leads-into.ts",
    "host/store/files/disk/place.ts",
  ]);
});

test("only a rebuild starts programs", () => {
  expect(hostImportersOf("node:child_process")).toEqual(["host/provenance/rebuild-sources.ts"]);
});

test("no import cycles", () => {
  const next = new Map<string, string[]>();
  for (const { from, to } of imports.filter((each) => isLocal(each.to)))
    next.set(from, [...(next.get(from) ?? []), to]);
  const done = new Set<string>();
  const visit = (file: string, trail: string[]): string[] | null => {
    if (trail.includes(file)) return [...trail.slice(trail.indexOf(file)), file];
    if (done.has(file)) return null;
    done.add(file);
    for (const to of next.get(file) ?? []) {
      const cycle = visit(to, [...trail, file]);
      if (cycle) return cycle;
    }
    return null;
  };
  expect(sources.map((file) => visit(file, [])).filter((cycle) => cycle !== null)).toEqual([]);
});

test("file names say what a file is about", () => {
  const vague = /(^|[/-])(utils?|helpers?|common|misc|lib|manager)([./-]|$)/;
  expect(tracked.filter((file) => vague.test(file))).toEqual([]);
  expect(sources.filter((file) => !/^[a-z0-9./-]+$/.test(file))).toEqual([]);
});

test("no source file is over 250 lines", () => {
  expect(sources.filter((file) => textOf(file).split("\n").length > 251)).toEqual([]);
});

test("no unfinished marks, silenced types or skipped tests", () => {
  const marks = /TOD[O]|FIXM[E]|@ts-ignor[e]|\.(skip|only|todo)\(/;
  // A toolchain that is not there is a reason to skip, and the reason is printed.
  const maySkip = new Set(["test/support/skip-with-reason.ts"]);
  expect(sources.filter((file) => !maySkip.has(file) && marks.test(textOf(file)))).toEqual([]);
});

const lockFiles = tracked.filter((file) => /(^|\/)package-lock\.json$/.test(file));

test.for(lockFiles)("%s names no registry", (file) => {
  expect(textOf(file)).not.toMatch(/"resolved": *"https?:/);
});

test.for(lockFiles)("%s holds every platform's optional packages", (file) => {
  // An install leaves out those that its registry does not offer, and "npm ci" then refuses the lock file elsewhere.
  const { packages } = JSON.parse(textOf(file)) as {
    packages: Record<string, { optionalDependencies?: Record<string, string> }>;
  };
  const optional = Object.values(packages).flatMap((each) => Object.keys(each.optionalDependencies ?? {}));
  expect(optional.filter((name) => !(`node_modules/${name}` in packages))).toEqual([]);
});

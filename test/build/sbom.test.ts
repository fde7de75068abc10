/** The list of components names exactly the packages that were linked in, in a standard form. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { Spec, Validation } from "@cyclonedx/cyclonedx-library";
import { expect, test } from "vitest";

import type { BuiltPlugin } from "../../build/build-plugin.ts";
import { bundlePlugin } from "../../build/bundle.ts";
import { checkSbom } from "../../build/check-sbom.ts";
import { readFamilies } from "../../build/family.ts";
import { linkedPackages } from "../../build/linked-packages.ts";
import { makeSbom } from "../../build/sbom.ts";
import { capabilitiesOf } from "../../shared/plugin-shape.ts";
import { manifestOf } from "../support/reseal-plugin.ts";
import { shippedPlugin } from "../support/test-plugin.ts";

interface Component {
  readonly "bom-ref": string;
  /** The scope of a package's name: `@noble` of `@noble/hashes`. */
  readonly group?: string;
  readonly name: string;
  readonly version: string;
  readonly purl?: string;
  readonly licenses: readonly { readonly license: { readonly id: string } }[];
  readonly hashes?: readonly { readonly alg: string; readonly content: string }[];
  readonly properties?: readonly { readonly name: string; readonly value: string }[];
}

const projectFolder = fileURLToPath(new URL("../..", import.meta.url));
const text = readFileSync(join(projectFolder, "dist", "sbom.json"), "utf8");
const sbom = JSON.parse(text) as { components: Component[]; dependencies: { ref: string; dependsOn?: string[] }[] };
const { packages: locked } = JSON.parse(readFileSync(join(projectFolder, "package-lock.json"), "utf8")) as {
  packages: Record<string, { version: string; integrity: string; license: string }>;
};

const sources = await readFamilies(join(projectFolder, "plugin"));
const bundles = await Promise.all(
  sources.map(({ folder, family }) => bundlePlugin(folder, family, capabilitiesOf(family.tools))),
);
const files = bundles.flatMap((bundle) => bundle.files);
const plugins = sources.map(({ family: { name } }, at): BuiltPlugin => {
  const wasm = readFileSync(shippedPlugin(name));
  return {
    wasm,
    sha256: readFileSync(`${shippedPlugin(name)}.sha256`, "utf8").slice(0, 64),
    manifest: manifestOf(wasm),
    linked: linkedPackages(bundles[at]?.files ?? []),
  };
});
const pluginNames = new Set(plugins.map(({ manifest }) => manifest.name));
/** The plugin with the most packages. */
const plugin = plugins.find(({ manifest }) => manifest.name === "user-memory");
if (!plugin) throw new Error("user-memory is not there");

const fullName = ({ group, name }: Component): string => (group === undefined ? name : `${group}/${name}`);

const named = (name: string): Component | undefined => sbom.components.find((each) => each.name === name);

test("the list is valid CycloneDX 1.6 by its strict schema", async () => {
  const validator = new Validation.JsonStrictValidator(Spec.Version.v1dot6);
  expect(await validator.validate(text)).toBe(null);
  expect(await validator.validate(text.replace('"bomFormat"', '"bomform"'))).not.toBe(null);
});

test("creating it again gives the same text, without time or serial number", async () => {
  expect(await makeSbom(plugins)).toBe(text);
  expect(text).not.toMatch(/"timestamp"|"serialNumber"/);
});

test.for(plugins)("the list has the plugin $manifest.name with its hash, version and size", (each) => {
  const { manifest, sha256, wasm } = each;
  expect(named(manifest.name)).toMatchObject({
    version: manifest.version,
    hashes: [{ alg: "SHA-256", content: sha256 }],
    properties: [
      { name: "memcell:bytes", value: String(wasm.length) },
      { name: "memcell:file", value: `plugins/${manifest.name}.wasm` },
    ],
  });
});

test("the list has the packages of which the bundle contains code, and the engine", () => {
  const kept = files.filter(({ bytes, path }) => bytes > 0 && path.includes("node_modules/"));
  const names = new Set(kept.map(({ path }) => /^node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? ""));
  const listed = sbom.components.map(fullName).filter((name) => !pluginNames.has(name));
  expect(listed.toSorted()).toEqual([...names, "quickjs-ng", "quickjs-wasi"].toSorted());
  // gray-matter depends on an older YAML library. It is installed, but the bundle contains a stand-in for it.
  expect(listed).toContain("gray-matter");
  expect(sbom.components.filter(({ name }) => name === "js-yaml").map(({ version }) => version)).toEqual(["5.5.0"]);
});

test("each package has the version, the hash and the licence that package-lock.json pins", () => {
  const found = sbom.components.filter(({ purl }) => purl?.startsWith("pkg:npm/"));
  expect(found.length).toBeGreaterThan(5);
  for (const component of found) {
    const { version, purl, hashes, licenses } = component;
    const name = fullName(component);
    const pinned = locked[`node_modules/${name}`];
    const sha512 = Buffer.from(pinned?.integrity.replace("sha512-", "") ?? "", "base64").toString("hex");
    expect({ version, purl, hashes, licenses }).toEqual({
      version: pinned?.version,
      purl: `pkg:npm/${name.replace("@", "%40")}@${version}`,
      hashes: [{ alg: "SHA-512", content: sha512 }],
      licenses: [{ license: { id: pinned?.license } }],
    });
  }
});

test("QuickJS is listed below the package that contains it", () => {
  expect(named("quickjs-ng")).toMatchObject({ version: "0.17.0", licenses: [{ license: { id: "MIT" } }] });
  const below = sbom.dependencies.find(({ ref }) => ref === named("quickjs-wasi")?.["bom-ref"]);
  expect(below?.dependsOn).toEqual([named("quickjs-ng")?.["bom-ref"]]);
});

const changes: { name: string; change: (list: typeof sbom) => unknown; says: string }[] = [
  {
    name: "a package",
    change: (list) => ({ ...list, components: list.components.filter(({ name }) => name !== "strip-bom-string") }),
    says: 'package "strip-bom-string" is linked into plugin "user-memory", but not in its list',
  },
  {
    name: "a package's licence",
    change: (list) => ({
      ...list,
      components: list.components.map((each) => (each.name === "zod" ? { ...each, licenses: [] } : each)),
    }),
    says: 'package "zod" is linked',
  },
  {
    name: "the engine's dependency",
    change: (list) => ({ ...list, dependencies: list.dependencies.map(({ ref }) => ({ ref })) }),
    says: "is linked into plugin",
  },
  {
    name: "the plugin",
    change: (list) => ({ ...list, components: list.components.filter(({ name }) => name !== "user-memory") }),
    says: 'lacks plugin "user-memory"',
  },
];

test.for(changes)("a list without $name ends the build", ({ change, says }) => {
  expect(() => checkSbom(text, plugin)).not.toThrow();
  expect(() => checkSbom(JSON.stringify(change(sbom)), plugin)).toThrow(says);
});

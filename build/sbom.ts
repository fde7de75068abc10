/**
 * The list of shipped components as CycloneDX 1.6 JSON: the plugin files, the packages linked into each, and zod, which is
 * linked into the host. It has no time and no serial number, so the same build always gives the same text. Only this
 * file imports that library.
 */
import { Enums, Models, Serialize, Spec, Validation } from "@cyclonedx/cyclonedx-library";

import type { BuiltPlugin } from "./build-plugin.ts";
import { checkSbom } from "./check-sbom.ts";
import { enginePlace, readEngineFacts } from "./engine-facts.ts";
import { readPackageFacts, readProjectFacts, zodPlace } from "./package-facts.ts";
import type { PackageFacts } from "./package-facts.ts";

const { ComponentType, HashAlgorithm, LifecyclePhase } = Enums;

/** The packages that build the plugins and this list. */
const tools = ["typescript", "esbuild", "binaryen", "@cyclonedx/cyclonedx-library"];

/** Rejects when a linked package is not the pinned version, may not be shipped, or is not in the list. */
export async function makeSbom(plugins: readonly BuiltPlugin[]): Promise<string> {
  const project = await readProjectFacts();
  const root = component(project, ComponentType.Application);
  const linked = await linkedComponents(plugins);
  const files = plugins.map((plugin) => pluginComponent(plugin, project.licence, linked));
  const zod = linked.get(zodPlace) ?? component(await readPackageFacts(zodPlace), ComponentType.Library);
  linked.set(zodPlace, zod);
  for (const part of [...files, zod]) root.dependencies.add(part.bomRef);
  const toolFacts = await Promise.all(tools.map((name) => readPackageFacts(`node_modules/${name}`)));
  const toolComponents = toolFacts.map((facts) => component(facts, ComponentType.Application));

  const bom = new Models.Bom({
    components: new Models.ComponentRepository([...files, ...linked.values()]),
    metadata: new Models.Metadata({
      component: root,
      lifecycles: new Models.LifecycleRepository([LifecyclePhase.Build]),
      tools: new Models.Tools({ components: new Models.ComponentRepository(toolComponents) }),
    }),
  });
  const factory = new Serialize.JSON.Normalize.Factory(Spec.Spec1dot6);
  const text = `${new Serialize.JsonSerializer(factory).serialize(bom, { sortLists: true, space: 2 })}\n`;
  await assertValid(text);
  for (const plugin of plugins) checkSbom(text, plugin);
  return text;
}

/** Every package that was linked into a plugin, by its place, and QuickJS itself, by its purl. */
async function linkedComponents(plugins: readonly BuiltPlugin[]): Promise<Map<string, Models.Component>> {
  const packages = new Map(plugins.flatMap(({ linked }) => linked.packages.map((each) => [each.place, each.imports])));
  const components = new Map<string, Models.Component>();
  for (const place of [...packages.keys(), enginePlace]) {
    components.set(place, component(await readPackageFacts(place), ComponentType.Library));
  }
  for (const [place, imports] of packages) addDependencies(components.get(place), imports, components);
  const engine = await readEngineFacts();
  components.set(engine.purl, component(engine, ComponentType.Library));
  addDependencies(components.get(enginePlace), [engine.purl], components);
  return components;
}

function addDependencies(
  of: Models.Component | undefined,
  places: readonly string[],
  components: ReadonlyMap<string, Models.Component>,
): void {
  for (const place of places) {
    const dependency = components.get(place);
    if (dependency) of?.dependencies.add(dependency.bomRef);
  }
}

function pluginComponent(
  { wasm, sha256, manifest, linked }: BuiltPlugin,
  licence: string,
  components: ReadonlyMap<string, Models.Component>,
): Models.Component {
  const { name, version } = manifest;
  const file = new Models.Component(ComponentType.Application, name, {
    bomRef: `plugin:${name}@${version}`,
    version,
    licenses: new Models.LicenseRepository([licenceOf(licence)]),
    hashes: new Models.HashDictionary([[HashAlgorithm["SHA-256"], sha256]]),
    properties: new Models.PropertyRepository([
      new Models.Property("memcell:file", `plugins/${name}.wasm`),
      new Models.Property("memcell:bytes", String(wasm.length)),
    ]),
  });
  addDependencies(file, [...linked.direct, enginePlace], components);
  return file;
}

type Facts = Omit<PackageFacts, "sha512"> & Partial<PackageFacts>;

function component({ name, version, licence, purl, sha512 }: Facts, type: Enums.ComponentType): Models.Component {
  const [, group, bareName = name] = /^(@[^/]+)\/(.+)$/.exec(name) ?? [];
  return new Models.Component(type, bareName, {
    bomRef: purl,
    ...(group === undefined ? {} : { group }),
    version,
    purl,
    licenses: new Models.LicenseRepository([licenceOf(licence)]),
    hashes: new Models.HashDictionary(sha512 === undefined ? [] : [[HashAlgorithm["SHA-512"], sha512]]),
  });
}

function licenceOf(licence: string): Models.License {
  return /\s/.test(licence) ? new Models.LicenseExpression(licence) : new Models.SpdxLicense(licence);
}

async function assertValid(text: string): Promise<void> {
  const problem = await new Validation.JsonStrictValidator(Spec.Version.v1dot6).validate(text);
  if (problem !== null)
    throw new Error("Cannot build: the list of components is not CycloneDX 1.6", { cause: problem });
}

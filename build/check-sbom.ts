/** Reads a list of components as its readers will, and compares it with what the bundler linked. */
import type { BuiltPlugin } from "./build-plugin.ts";
import { enginePlace } from "./engine-facts.ts";

interface Listed {
  readonly components: readonly ListedComponent[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn?: readonly string[] }[];
}

interface ListedComponent {
  readonly "bom-ref": string;
  readonly group?: string;
  readonly name: string;
  readonly licenses?: readonly unknown[];
  readonly hashes?: readonly { readonly alg: string; readonly content: string }[];
}

/** Throws unless every package that was linked into the plugin is listed below it, with a licence. */
export function checkSbom(text: string, { manifest, sha256, linked }: BuiltPlugin): void {
  const { components, dependencies } = JSON.parse(text) as Listed;
  const file = components.find(({ hashes }) => hashes?.some(({ content }) => content === sha256));
  if (!file) throw new Error(`Cannot build: the list of components lacks plugin "${manifest.name}"`);
  const below = new Set([file["bom-ref"]]);
  for (const ref of below) {
    for (const found of dependencies.find((each) => each.ref === ref)?.dependsOn ?? []) below.add(found);
  }
  const listed = components.filter((each) => below.has(each["bom-ref"]) && (each.licenses?.length ?? 0) > 0);
  const names = new Set(listed.map(({ group, name }) => (group === undefined ? name : `${group}/${name}`)));
  for (const place of [...linked.packages.map((each) => each.place), enginePlace]) {
    const name = place.slice(place.lastIndexOf("node_modules/") + "node_modules/".length);
    if (names.has(name)) continue;
    throw new Error(`Cannot build: package "${name}" is linked into plugin "${manifest.name}", but not in its list`);
  }
}

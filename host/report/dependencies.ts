/** The packages that were linked into a plugin, from the list of components (SBOM) that is part of memcell. */
import { sbomLimits } from "../../shared/limits.ts";
import { parseStrictJson } from "../../shared/strict-json.ts";
import * as z from "../../shared/zod.ts";
import { readBoundedFile } from "../disk/bounded-file.ts";
import { packageFile } from "../values/package-file.ts";
import type { Dependency } from "./report.ts";

/** Names are printed unchanged to terminals and pages, so they contain no control characters and no tags. */
const word = z.string().check(z.regex(/^[A-Za-z0-9@%._+:/ ()-]{1,256}$/));

const licence = z.union([z.object({ expression: word }), z.object({ license: z.object({ id: word }) })]);

const component = z.object({
  "bom-ref": word,
  group: z.optional(word),
  name: word,
  version: word,
  licenses: z.array(licence),
  hashes: z.optional(z.array(z.object({ alg: word, content: word }))),
});

/** The part of CycloneDX 1.6 that is used here. */
const sbomSchema = z.object({
  bomFormat: z.literal("CycloneDX"),
  specVersion: z.literal("1.6"),
  components: z.array(component),
  dependencies: z.array(z.object({ ref: word, dependsOn: z.optional(z.array(word)) })),
});

type Sbom = z.infer<typeof sbomSchema>;

/**
 * Returns the packages linked into the plugin file with this SHA-256, sorted by name. `null` when the list does not
 * cover this file, is missing, or does not have exactly the build's format.
 */
export async function readDependencies(
  sha256: string,
  sbomFile = packageFile("dist/sbom.json"),
): Promise<Dependency[] | null> {
  const sbom = await readSbom(sbomFile);
  return sbom && dependenciesOf(sbom, sha256);
}

async function readSbom(file: string): Promise<Sbom | null> {
  try {
    const read = await readBoundedFile(file, sbomLimits.bytesMax);
    if (read.kind === "unfit") return null;
    const text = new TextDecoder("utf-8", { fatal: true }).decode(read.bytes);
    const parsed = z.safeParse(sbomSchema, parseStrictJson(text, sbomLimits.depthMax));
    return parsed.success ? parsed.data : null;
  } catch {
    return null;
  }
}

function dependenciesOf({ components, dependencies }: Sbom, sha256: string): Dependency[] | null {
  const isPlugin = (each: Sbom["components"][number]): boolean =>
    each.hashes?.some(({ alg, content }) => alg === "SHA-256" && content === sha256) ?? false;
  const plugin = components.find(isPlugin);
  if (!plugin) return null;
  const next = new Map(dependencies.map(({ ref, dependsOn }) => [ref, dependsOn ?? []]));
  const byRef = new Map(components.map((each) => [each["bom-ref"], each]));
  const below = new Set(next.get(plugin["bom-ref"]));
  for (const ref of below) for (const found of next.get(ref) ?? []) below.add(found);
  const found = [...below].map((ref) => byRef.get(ref));
  const known = found.filter((each) => each !== undefined);
  if (known.length < found.length || known.some(({ licenses }) => licenses.length === 0)) return null;
  return known.map(dependencyOf).toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

function dependencyOf({ group, name, version, licenses }: Sbom["components"][number]): Dependency {
  const named = licenses.map((each) => ("expression" in each ? each.expression : each.license.id));
  return { name: group === undefined ? name : `${group}/${name}`, version, licence: named.join(" AND ") };
}

/**
 * Finds the npm packages in a plugin, from the files that the bundler read and kept. A package that is only installed,
 * or of which the bundler kept nothing, is not listed.
 */
import type { BundledFile } from "./bundle.ts";

export interface LinkedPackage {
  /** Its key in `package-lock.json`: `node_modules/zod`. */
  readonly place: string;
  /** Places of the linked packages that its files import. */
  readonly imports: readonly string[];
}

export interface LinkedPackages {
  readonly packages: readonly LinkedPackage[];
  /** Places of the packages that the plugin's own code imports. */
  readonly direct: readonly string[];
}

/** The place of the plugin's own code. */
const own = "";

export function linkedPackages(files: readonly BundledFile[]): LinkedPackages {
  const kept = new Set(files.filter(({ bytes }) => bytes > 0).map(({ path }) => placeOf(path)));
  const places = [...kept].filter((place) => place !== own).toSorted();
  const importsOf = (place: string): string[] => {
    const ofPlace = files.filter(({ path }) => placeOf(path) === place);
    const imported = new Set(ofPlace.flatMap(({ imports }) => imports.map(placeOf)));
    return places.filter((each) => each !== place && imported.has(each));
  };
  const packages = places.map((place) => ({ place, imports: importsOf(place) }));
  // A package that is imported only by dropped packages is listed as direct, so that it is below the plugin.
  const imported = new Set(packages.flatMap(({ imports }) => imports));
  const direct = new Set(importsOf(own));
  return { packages, direct: places.filter((place) => direct.has(place) || !imported.has(place)) };
}

function placeOf(path: string): string {
  return /^(?:node_modules\/(?:@[^/]+\/)?[^/]+\/)+/.exec(path)?.[0].slice(0, -1) ?? placeElsewhere(path);
}

/** Code of another project can be built too, but no lock file names that project's packages. */
function placeElsewhere(path: string): string {
  if (!path.includes("node_modules/")) return own;
  throw new Error(`Cannot build plugin: "${path}" is a package that package-lock.json does not name`);
}

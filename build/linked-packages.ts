/**
 * Which npm packages are in a plugin, told from what the bundler has read and kept. Of a package that is only installed, or
 * of which nothing was left, there is nothing to list.
 */
import type { BundledFile } from "./bundle.ts";

export interface LinkedPackage {
  /** Where it lies, as `package-lock.json` names it: `node_modules/zod`. */
  readonly place: string;
  /** Places of the linked packages that its files import. */
  readonly imports: readonly string[];
}

export interface LinkedPackages {
  readonly packages: readonly LinkedPackage[];
  /** Places of those that the plugin's own code imports. */
  readonly direct: readonly string[];
}

/** The plugin's own code, among places of packages. */
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
  // What is only reached through a package of which nothing was left has to hang on something.
  const imported = new Set(packages.flatMap(({ imports }) => imports));
  const direct = new Set(importsOf(own));
  return { packages, direct: places.filter((place) => direct.has(place) || !imported.has(place)) };
}

function placeOf(path: string): string {
  return /^(?:node_modules\/(?:@[^/]+\/)?[^/]+\/)+/.exec(path)?.[0].slice(0, -1) ?? placeElsewhere(path);
}

/** Code of another project may be built too, but no lock file says which packages that one has. */
function placeElsewhere(path: string): string {
  if (!path.includes("node_modules/")) return own;
  throw new Error(`Cannot build plugin: "${path}" is a package that package-lock.json does not name`);
}

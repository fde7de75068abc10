import type { HeldHistory } from "./held-history.ts";
import { placeKey } from "./present-origins.ts";
import type { Version } from "./version.ts";

/** A history of one scope under another name of that scope. */
export function renamedHistory(history: HeldHistory, from: string, to: string): HeldHistory {
  return {
    get head() {
      return history.head;
    },
    get filesHead() {
      return history.filesHead;
    },
    get isBroken() {
      return history.isBroken;
    },
    get unknown() {
      return history.unknown;
    },
    get hasStated() {
      return history.hasStated;
    },
    originOf: (scope, path) => history.originOf(scope === to ? from : scope, path),
    origins: async () =>
      Array.from(await history.origins(), ([place, origin]) => [
        placeKey({ scope: to, path: place.slice(from.length + 1) }),
        origin,
      ]),
    loweredRuns: () => history.loweredRuns(),
    versions: async () => (await history.versions()).map((version) => renamed(version, from, to)),
    contentsOf: (hashes) => history.contentsOf(hashes),
  };
}

function renamed({ files, ...version }: Version, from: string, to: string): Version {
  const named = files.map(({ scope, ...file }) => Object.assign({ scope: scope === from ? to : scope }, file));
  return { ...version, files: named };
}

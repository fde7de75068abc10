/** The maximum size of a shipped plugin, which a test checks. */
interface ArtifactLimits {
  readonly bytesMax: number;
  /** The size in which a registry or a package transfers it. */
  readonly zippedBytesMax: number;
}

/**
 * An agent's host fetches and checks the file when it starts, and copies most of it into each instance. The engine's
 * code takes 0.4 MB, and a thousand characters of a family's minified code about 5 KB.
 */
const artifactLimits: ArtifactLimits = { bytesMax: 1_040_000, zippedBytesMax: 465_000 };

/** Of the families that are larger: `stores` has 30 exports, a text search and YAML. */
const largeFamilies: Readonly<Record<string, ArtifactLimits>> = {
  stores: { bytesMax: 1_252_000, zippedBytesMax: 551_000 },
};

export const artifactLimitsOf = (family: string): ArtifactLimits => largeFamilies[family] ?? artifactLimits;

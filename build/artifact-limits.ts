/** The maximum size of a shipped plugin, which a test checks. */
export const artifactLimits = {
  /**
   * An agent's host fetches and checks the file when it starts, and copies most of it into each instance. The engine's
   * code takes 0.4 MB, and a thousand characters of a family's minified code about 5 KB. `stores`, with 32 exports, a
   * text search and YAML, is the largest.
   */
  bytesMax: 1_200_000,
  /** The size in which a registry or a package transfers it. */
  zippedBytesMax: 530_000,
} as const;

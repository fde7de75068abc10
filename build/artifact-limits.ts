/** What a plugin that is shipped may weigh. A test holds the shipped plugin to it. */
export const artifactLimits = {
  /**
   * An agent's host fetches and checks the file when it starts, and most of it is copied into each instance. 0.4 MB are
   * the engine's code.
   */
  bytesMax: 1_000_000,
  /** As a registry or a package transfers it. */
  zippedBytesMax: 450_000,
} as const;

/** The maximum size of a shipped plugin, which a test checks. */
export const artifactLimits = {
  /**
   * An agent's host fetches and checks the file when it starts, and copies most of it into each instance. The engine's
   * code takes 0.4 MB.
   */
  bytesMax: 1_000_000,
  /** The size in which a registry or a package transfers it. */
  zippedBytesMax: 450_000,
} as const;

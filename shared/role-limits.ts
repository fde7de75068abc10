/** Answers of tools with a role. */
export const roleLimits = {
  /** Findings, and refusals, in one answer. More would not fit, with a path and a sentence each. */
  toldMax: 1_000,
} as const;

/**
 * What the prelude returns to the glue, in place of a tool's code, when there may be no memory left for a text. No tool
 * returns these numbers by accident; a tool that does has only reported a failure.
 */
export const outcomeCodes = {
  /** The engine ran out of memory, and no code caught the error. */
  outOfMemory: 0x6d656d00,
  /** `null` was thrown. The engine does so when there is no memory for an error object. */
  nothing: 0x6d656d01,
} as const;

/**
 * What the prelude returns to the glue in place of a tool's code when it must not make text: there may be no memory left
 * for it. Numbers that no tool returns by accident; one that does says only that it failed.
 */
export const outcomeCodes = {
  /** The engine ran out of memory, and nobody caught it. */
  outOfMemory: 0x6d656d00,
  /** `null` was thrown. The engine does so when not even an error object fits. */
  nothing: 0x6d656d01,
} as const;

/** What a test and its vector server tell each other, beside what travels over MCP. */
export interface VectorOrder {
  /** The plugin's file. */
  readonly plugin: string;
  readonly limits: { readonly fuelPolls?: number; readonly deadlineMs?: number };
  readonly dataDir: string;
  /** What the clock answers from now on. */
  readonly epochMs: number;
}

/** Where what was ordered is served. */
export interface VectorOrdered {
  readonly url: string;
}

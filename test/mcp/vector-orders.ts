/** What a test and its vector server tell each other, beside what travels over MCP. */
export interface VectorOrder {
  /** The plugin's file. */
  readonly plugin: string;
  readonly limits: { readonly fuelPolls?: number; readonly deadlineMs?: number };
  readonly dataDir: string;
  /** What the clock answers from now on. */
  readonly epochMs: number;
}

/** The arguments of the vector server: who issues tokens, and with which keys they are verified. */
export interface VectorServerArguments {
  readonly issuer: string;
  readonly audience: string;
  readonly keySetFile: string;
}

/** Where what was ordered is served. */
export interface VectorOrdered {
  readonly url: string;
}

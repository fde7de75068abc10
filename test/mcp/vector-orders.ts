/** Messages between a test and its vector server, besides MCP. */
export interface VectorOrder {
  /** The plugin's file. */
  readonly plugin: string;
  readonly limits: { readonly fuelPolls?: number; readonly deadlineMs?: number };
  readonly dataDir: string;
  /** The clock's value from now on. */
  readonly epochMs: number;
  /** Whether the data folder is about to be replaced. Then the next call opens it anew. */
  readonly isRenewed: boolean;
}

/** Where the server for an order listens. */
export interface VectorOrdered {
  readonly url: string;
}

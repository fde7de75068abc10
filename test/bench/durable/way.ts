import type { Contestant } from "../take-turns.ts";

/** A way to store an entry. What it promises stands beside its time. */
export interface Way extends Contestant {
  readonly name: string;
  readonly facts: {
    readonly transport: "in process" | "stdio";
    /** Whether what was acknowledged outlives a power cut. */
    readonly durable: string;
    readonly sandboxed: "yes" | "no";
    /** What one operation writes. */
    readonly writes: string;
  };
  close(): Promise<void>;
}

/** Opens a contestant in a folder of its own, which does not exist yet. */
export type OpenWay = (folder: string) => Promise<readonly Way[]>;

export const entryAndIndex = "entry and index";

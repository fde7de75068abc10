import type { Contestant } from "../take-turns.ts";

/** A way to store an entry. The tables show its guarantees next to its time. */
export interface Way extends Contestant {
  readonly name: string;
  readonly facts: {
    readonly transport: "in process" | "stdio";
    /** Whether acknowledged writes survive a power cut. */
    readonly durable: string;
    readonly sandboxed: "yes" | "no";
    /** What one operation writes. */
    readonly writes: string;
  };
  close(): Promise<void>;
}

/** Opens a contestant in its own folder, which does not exist yet. */
export type OpenWay = (folder: string) => Promise<readonly Way[]>;

export const entryAndIndex = "entry and index";

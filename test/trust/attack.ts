/** One attack on what an agent remembers. The table in the README is made of these. */
import type { AttackStage } from "./attack-stage.ts";

export interface Attack {
  readonly class: string;
  /** What the attacker does. */
  readonly attack: string;
  /** What happens then. It is asserted. */
  readonly happens: string;
  /** The store that is attacked. Default: one of files, and one in memory if the class is about what a store keeps. */
  readonly on?: "files" | "memory";
  readonly play: (stage: AttackStage) => Promise<void>;
}

/** Rows of one class. */
export const attacksOf = (of: string, rows: readonly Omit<Attack, "class">[]): readonly Attack[] =>
  rows.map((row) => ({ class: of, ...row }));

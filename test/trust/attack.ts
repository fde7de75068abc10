/** One attack on what an agent remembers. The table in the README has a row for each, which says what happens then. */
import type { AttackStage } from "./attack-stage.ts";

type Play = (stage: AttackStage) => Promise<unknown>;

export interface Attack {
  readonly class: string;
  /** What the attacker does. */
  readonly attack: string;
  readonly play: Play;
  /** The store that is attacked. Default: one in memory, and one of files if the class is about what a store keeps. */
  readonly on?: "files" | "memory";
}

type Row = Play | Pick<Attack, "on" | "play">;

export const onFiles = (play: Play): Row => ({ on: "files", play });
export const inMemory = (play: Play): Row => ({ on: "memory", play });

/** Rows of one class. */
export const attacksOf = (of: string, rows: Readonly<Record<string, Row>>): readonly Attack[] =>
  Object.entries(rows).map(([attack, row]) =>
    Object.assign({ class: of, attack }, typeof row === "function" ? { play: row } : row),
  );

/** A table of commands, with the answers of memcell and of the SDK's local tool. */
import { create } from "./tools.ts";
import type { Command } from "./tools.ts";
import type { Trap } from "./traps.ts";

export interface Case {
  readonly title: string;
  readonly steps: readonly Step[];
  /** The files afterwards. */
  readonly after: Readonly<Record<string, string>>;
  /** Those of the local tool, if a trap has made them others. */
  readonly localAfter?: Readonly<Record<string, string>>;
  /** That trap, if no answer shows it. */
  readonly trap?: Trap;
}

/** A command with memcell's answer, and the local tool's if it is another one. A failure begins with `✗ `. */
export type Step = readonly [command: Command, answer: string, local?: LocalAnswer];

export interface LocalAnswer {
  readonly trap: Trap;
  readonly answer: string;
}

/** The step that creates a file. */
export const created = (path: string, text: string): Step => [
  create(path, text),
  `File created successfully at: ${path}`,
];

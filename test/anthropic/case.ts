import type { Trap } from "./traps.ts";
import type { Command } from "./two-tools.ts";

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

export const view = (path: string, ...range: readonly number[]): Command => ({
  command: "view",
  path,
  ...(range.length > 0 && { view_range: range }),
});

export const create = (path: string, text: string): Command => ({ command: "create", path, file_text: text });

export const replace = (path: string, old: string, replacement?: string): Command => ({
  command: "str_replace",
  path,
  old_str: old,
  ...(replacement !== undefined && { new_str: replacement }),
});

export const insert = (path: string, line: number, text: string): Command => ({
  command: "insert",
  path,
  insert_line: line,
  insert_text: text,
});

export const remove = (path: string): Command => ({ command: "delete", path });

export const rename = (from: string, to: string): Command => ({ command: "rename", old_path: from, new_path: to });

/** The step that creates a file. */
export const created = (path: string, text: string): Step => [
  create(path, text),
  `File created successfully at: ${path}`,
];

/** A file as `view` shows it. */
export const shown = (path: string, ...lines: readonly string[]): string =>
  [`Here's the content of ${path} with line numbers:`, ...lines].join("\n") + (lines.length === 0 ? "\n" : "");

/** A listing as `view` shows it. The first line is the directory itself. */
export const listed = (path: string, ...lines: readonly string[]): string =>
  [
    `Here're the files and directories up to 2 levels deep in ${path}, excluding hidden items and node_modules:`,
    ...lines,
  ].join("\n");

export const missing = (path: string): string => `✗ The path ${path} does not exist. Please provide a valid path.`;

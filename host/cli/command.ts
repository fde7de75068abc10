/** A command: its help, and what it does with the arguments behind its name. Resolves to the exit code. */
export interface Command {
  readonly help: string;
  run(args: readonly string[]): Promise<number>;
}

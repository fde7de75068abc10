/** A host in another language: what it needs, and how it is made and started. */
export interface HostKind {
  readonly language: "Node" | "Go" | "Python" | "Rust" | "Java";
  /** What runs the plugin, with versions, as the table shows it. */
  readonly sdk: string;
  /** Why it cannot be built on this machine, in one line; `null` when it can. */
  missing(): Promise<string | null>;
  /**
   * Builds the program, in folders outside the clone that a later run with the same sources and pins finds again. Rejects
   * with what the build printed.
   */
  prepare(signal: AbortSignal): Promise<HostProgram>;
}

/** How to start a host program. It speaks the lines that `README.md` tells of. */
export interface HostProgram {
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

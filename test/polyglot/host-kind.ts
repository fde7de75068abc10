/** A host in another language: what it needs, and how to build and start it. */
export interface HostKind {
  readonly language: "Node" | "Go" | "Python" | "Rust" | "Java";
  /** Why it cannot be built on this machine, in one line. `null` if it can. */
  missing(): Promise<string | null>;
  /**
   * Builds the program in folders outside the clone, which a later run with the same sources and pins uses again.
   * Rejects with the build's output.
   */
  prepare(signal: AbortSignal): Promise<HostProgram>;
}

/** How to start a host program. `host/polyglot/README.md` describes its line protocol. */
export interface HostProgram {
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Whether it keeps what it knows of the users' folders, so that it must be told when a test replaces them. */
  readonly isToldOfRenewal?: true;
}

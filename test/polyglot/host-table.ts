/** The table of a run: each host, the vectors it passed, and the time of a call. */
export interface HostRow {
  readonly language: string;
  readonly sdk: string;
  readonly vectors: number;
  readonly differences: number;
  /** Seconds until the program was built or found. */
  readonly prepareS: number;
  readonly vectorsS: number;
  /** Milliseconds from the process's start to its first answer, and of one call in a process that has served others. */
  readonly startMs: number;
  readonly upsertMs: number;
  readonly readMs: number;
}

const columns: readonly (readonly [title: string, cell: (row: HostRow) => string])[] = [
  ["host", ({ language }) => language],
  ["SDK", ({ sdk }) => sdk],
  ["vectors", ({ vectors }) => String(vectors)],
  ["differences", ({ differences }) => String(differences)],
  ["built", ({ prepareS }) => `${prepareS.toFixed(1)} s`],
  ["ran", ({ vectorsS }) => `${vectorsS.toFixed(1)} s`],
  ["start", ({ startMs }) => `${startMs.toFixed(0)} ms`],
  ["upsert", ({ upsertMs }) => `${upsertMs.toFixed(2)} ms`],
  ["read", ({ readMs }) => `${readMs.toFixed(2)} ms`],
];

/** Formats the table. Hosts that did not run follow it, with the reason. */
export function hostTable(rows: readonly HostRow[], skipped: readonly string[]): string {
  const cells = [columns.map(([title]) => title), ...rows.map((row) => columns.map(([, cell]) => cell(row)))];
  const widths = columns.map((_, at) => Math.max(...cells.map((line) => line[at]?.length ?? 0)));
  const lines = cells.map((line) =>
    line
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join("  ")
      .trimEnd(),
  );
  return [...lines, ...skipped.map((reason) => `skipped: ${reason}`)].join("\n");
}

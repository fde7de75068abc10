import type { Figure, Results } from "./results.ts";

/** Finds a figure by its table's key and its own. Returns `undefined` when its section did not run. */
export function figureAt(results: Results, table: string, figure: string): Figure | undefined {
  const tables = results.sections.flatMap((section) => section.tables);
  return tables.find(({ key }) => key === table)?.figures.find(({ key }) => key === figure);
}

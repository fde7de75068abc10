import type { Figure, Results } from "./results.ts";

/** One figure by its table's key and its own; `undefined` when its section did not run. */
export function figureAt(results: Results, table: string, figure: string): Figure | undefined {
  const tables = results.sections.flatMap((section) => section.tables);
  return tables.find(({ key }) => key === table)?.figures.find(({ key }) => key === figure);
}

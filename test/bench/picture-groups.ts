/** The figures that the picture shows, and their labels. */
import { figureAt } from "./results.ts";
import type { Results } from "./results.ts";

export interface Bar {
  readonly label: string;
  readonly value: number;
  readonly spread: readonly [low: number, high: number];
  readonly isOurs: boolean;
}

export interface BarGroup {
  readonly title: string;
  readonly unit: string;
  readonly bars: readonly Bar[];
  /** A line across the bars: the bound, or the value compared with. */
  readonly mark: { readonly value: number; readonly text: string };
}

/** The groups whose figures are in the results. A partial run has some of them. */
export function groupsOf(results: Results): BarGroup[] {
  return declared
    .map(({ title, unit, mark, bars }) => ({
      title,
      unit,
      mark,
      bars: bars.map((bar) => barOf(results, bar)).filter((bar) => bar !== null),
    }))
    .filter(({ bars }) => bars.length > 0);
}

type DeclaredBar = readonly [table: string, figure: string, label: string];

const declared: readonly (Omit<BarGroup, "bars"> & { readonly bars: readonly DeclaredBar[] })[] = [
  {
    title: "Storing an entry: time, against the naive durable write",
    unit: "×",
    mark: { value: 1.1, text: "at most 1.1 ×" },
    bars: [
      ["durable-journaled", "memcell", "memcell: durable, sandboxed"],
      ["durable-journaled", "naive", "naive: durable file by file"],
      ["durable-journaled", "memory-tool-both", "memory tool, entry and index: flushed"],
      ["durable-journaled", "memory-tool", "memory tool, entry only: flushed"],
    ],
  },
  {
    title: "The same over MCP stdio, against the naive write in process",
    unit: "×",
    mark: { value: 1, text: "1 ×" },
    bars: [
      ["durable-journaled", "memcell-stdio", "memcell serve: durable, sandboxed"],
      ["durable-journaled", "filesystem-both", "server-filesystem, both files: not durable"],
      ["durable-journaled", "filesystem", "server-filesystem, entry only: not durable"],
      ["durable-journaled", "memory-server", "server-memory: not durable"],
      ["durable-journaled", "empty-call", "a tool that does nothing"],
    ],
  },
  {
    title: "What the sandbox adds to a call",
    unit: "ms",
    mark: { value: 0.5, text: "at most 0.5 ms with 4 KB" },
    bars: (["upsert", "read"] as const).flatMap((operation) =>
      (["100", "4096", "65536"] as const).map((bytes): DeclaredBar => {
        const size = { "100": "100 B", "4096": "4 KB", "65536": "64 KB" }[bytes];
        return [`sandbox-${operation}`, `${bytes}-ours`, `${operation}, body of ${size}`];
      }),
    ),
  },
  {
    title: "Throughput, against as many threads of the naive way (longer is better)",
    unit: "×",
    mark: { value: 0.6, text: "at least 0.6 × with 8 users" },
    bars: ["1", "2", "4", "8", "16"].map((users): DeclaredBar => {
      return ["throughput", `${users}-memcell`, users === "1" ? "1 user" : `${users} users`];
    }),
  },
  {
    title: "Time in a large folder, against one of 10 entries",
    unit: "×",
    mark: { value: 3, text: "at most 3 × with 1,000" },
    bars: [
      ["growth-upsert", "100", "upsert, 100 entries"],
      ["growth-upsert", "1000", "upsert, 1,000 entries"],
      ["growth-read", "100", "read, 100 entries"],
      ["growth-read", "1000", "read, 1,000 entries"],
    ],
  },
];

function barOf(results: Results, [table, figure, label]: DeclaredBar): Bar | null {
  const found = figureAt(results, table, figure);
  if (!found?.compared) return null;
  const [low, high] = found.compared.spread;
  return { label, value: found.compared.value, spread: [low, high], isOurs: isOurs(table, figure) };
}

const isOurs = (table: string, figure: string): boolean =>
  !table.startsWith("durable-") || figure.startsWith("memcell");

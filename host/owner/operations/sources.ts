import { defineOperation } from "../define-operation.ts";
import { originWords } from "../origin-words.ts";
import type { ChangeSource } from "../own-entry.ts";
import { listSources } from "../sources.ts";
import { shownTime } from "../told.ts";
import type { Told } from "../told.ts";

export const runs = defineOperation({
  name: "runs",
  action: "list the runs and sources",
  changes: false,
  fields: {},
  run: listSources,
  commands: [
    {
      name: "sources",
      summary: "lists the runs of agents and the sources that have changed the memory",
      description: `Lists the runs of agents and the sources of texts, such as web pages, that have changed the memory or have suggestions waiting,
the latest first. "memcell undo" takes back what one of them has changed.`,
      examples: ["memcell sources"],
      tells: (sources: readonly ChangeSource[]): Told =>
        sources.length === 0
          ? ["No program has named a run or a source"]
          : [
              {
                heads: ["last", "changes", "files", "waiting", "what", "lowest trust"],
                rows: sources.map(rowOf),
                numbers: [1, 2, 3],
              },
            ],
      isEmpty: (sources) => sources.length === 0,
    },
  ],
});

const rowOf = ({ kind, name, changes, files, waiting, lastAt, trust }: ChangeSource): string[] => [
  shownTime(lastAt),
  String(changes),
  String(files),
  String(waiting),
  `${kind} ${name}`,
  originWords({ class: trust, trust }),
];

import { counted } from "../../../shared/text.ts";
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
        sources.length === 0 ? ["No program has named a run or a source"] : sources.flatMap(linesOf),
      isEmpty: (sources) => sources.length === 0,
    },
  ],
});

/** A person copies a name: it has a line to itself. */
const linesOf = ({ kind, name, changes, files, waiting, lastAt, trust }: ChangeSource): string[] => [
  `${kind} ${name}`,
  `  ${shownTime(lastAt)}: ${[
    ...(changes === 0 ? [] : [`${counted(changes, "change")} in ${counted(files, "file")}`]),
    ...(waiting === 0 ? [] : [`${counted(waiting, "suggestion")} waiting`]),
    originWords({ class: trust, trust }),
  ].join(", ")}`,
];

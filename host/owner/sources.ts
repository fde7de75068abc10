/** The runs and sources that have changed a memory: what an undo can be asked for. */
import { lowestOf } from "../../shared/origin.ts";
import { isTrashPath } from "../../shared/path.ts";
import { counted } from "../../shared/text.ts";
import { placeKey } from "../values/change-set.ts";
import { giveTurn } from "../values/turns.ts";
import { defineOperation } from "./define-operation.ts";
import type { Operation } from "./operation.ts";
import { originWords } from "./origin-words.ts";
import type { ChangeSource } from "./own-entry.ts";
import { listWaiting } from "./pending.ts";
import { shownTime } from "./told.ts";
import type { Told } from "./told.ts";
import { eachPart } from "./user-scopes.ts";

export const runs = defineOperation({
  name: "runs",
  action: "list the runs and sources",
  changes: false,
  fields: {},
  run: listSources,
  command: {
    name: "sources",
    summary: "lists the runs of agents and the sources that have changed the memory",
    description: `Lists the runs of agents and the sources of texts, such as web pages, that have changed the memory or have suggestions waiting,
the latest first. "memcell undo" takes back what one of them has changed.`,
    examples: ["memcell sources"],
    tells: (sources: readonly ChangeSource[]): Told =>
      sources.length === 0 ? ["No program has named a run or a source"] : sources.flatMap(linesOf),
  },
});

/** A person copies a name: it has a line to itself. */
const linesOf = ({ kind, name, changes, files, waiting, lastAt, trust }: ChangeSource): string[] => [
  `${kind} ${name}`,
  `  ${shownTime(lastAt)}: ${[
    ...(changes === 0 ? [] : [`${counted(changes, "change")} in ${counted(files, "file")}`]),
    ...(waiting === 0 ? [] : [`${counted(waiting, "suggestion")} waiting`]),
    // A run's or a source's texts are the owner's only once the owner has approved them.
    trust === "owner_edit" ? "approved by you" : originWords({ class: trust, trust }),
  ].join(", ")}`,
];

/** The latest first. */
async function listSources(operation: Operation): Promise<ChangeSource[]> {
  const parts = await eachPart(operation, { mode: "read" }, async ({ held }) => await held.history.versions());
  const made = parts.flat().map((version) => Object.assign({ at: new Date(version.atMs), isWaiting: false }, version));
  const waiting = (await listWaiting(operation)).map((write) => Object.assign({ isWaiting: true }, write));
  const sources = new Map<string, ChangeSource>();
  const filesOf = new Map<string, Set<string>>();
  for (const { at, trust, isWaiting, files, ...each } of [...made, ...waiting]) {
    await giveTurn();
    const own = files.filter((file) => !isTrashPath(file.path) && !operation.tools.isDerivedAt(file));
    for (const kind of ["run", "source"] as const) {
      const name = each[kind];
      if (name === null) continue;
      const key = `${kind} ${name}`;
      const before = sources.get(key) ?? { changes: 0, waiting: 0, firstAt: at, lastAt: at, trust };
      const changed = filesOf.get(key) ?? new Set();
      filesOf.set(key, changed);
      for (const file of isWaiting ? [] : own) changed.add(placeKey(file));
      sources.set(key, {
        kind,
        name,
        changes: before.changes + Number(!isWaiting),
        files: changed.size,
        firstAt: at < before.firstAt ? at : before.firstAt,
        lastAt: at > before.lastAt ? at : before.lastAt,
        trust: lowestOf(before.trust, trust),
        waiting: before.waiting + Number(isWaiting),
      });
    }
  }
  return [...sources.values()].toSorted((a, b) => b.lastAt.getTime() - a.lastAt.getTime());
}

/** The runs and sources that have changed a memory: what an undo can be asked for. */
import { lowestOf } from "../../shared/origin.ts";
import type { OriginClass } from "../../shared/origin.ts";
import { isTrashPath } from "../../shared/path.ts";
import { placeKey } from "../values/change-set.ts";
import type { Place } from "../values/change-set.ts";
import { giveTurn } from "../values/turns.ts";
import type { Operation } from "./operation.ts";
import type { ChangeSource } from "./own-entry.ts";
import { listWaiting } from "./pending.ts";
import { eachPart } from "./user-scopes.ts";

interface Found {
  readonly run: string | null;
  readonly source: string | null;
  readonly at: Date;
  readonly trust: OriginClass;
  readonly files: readonly Place[];
  readonly isWaiting: boolean;
}

/** The latest first. */
export async function listSources(operation: Operation): Promise<ChangeSource[]> {
  const parts = await eachPart(operation, { mode: "read" }, async ({ held }) => await held.history.versions());
  const made = parts.flat().map((version) => Object.assign({ at: new Date(version.atMs), isWaiting: false }, version));
  const waiting = (await listWaiting(operation)).map((write) => Object.assign({ isWaiting: true }, write));
  const sources = new Map<string, Sum>();
  for (const each of [...made, ...waiting]) {
    await giveTurn();
    const files = each.files.filter((file) => !isTrashPath(file.path) && !operation.tools.isDerivedAt(file));
    for (const kind of ["run", "source"] as const) {
      const { [kind]: name } = each;
      if (name === null) continue;
      const sum = sources.get(`${kind} ${name}`) ?? new Sum(kind, name, each);
      sources.set(`${kind} ${name}`, sum);
      sum.add({ ...each, files });
    }
  }
  return Array.from(sources.values(), (sum) => sum.told).toSorted((a, b) => b.lastAt.getTime() - a.lastAt.getTime());
}

class Sum {
  readonly #files = new Set<string>();
  #told: Omit<ChangeSource, "files">;

  constructor(kind: ChangeSource["kind"], name: string, { at, trust }: Found) {
    this.#told = { kind, name, changes: 0, firstAt: at, lastAt: at, trust, waiting: 0 };
  }

  add({ at, trust, files, isWaiting }: Found): void {
    const { changes, waiting, firstAt, lastAt } = this.#told;
    this.#told = {
      ...this.#told,
      changes: changes + Number(!isWaiting),
      waiting: waiting + Number(isWaiting),
      firstAt: at < firstAt ? at : firstAt,
      lastAt: at > lastAt ? at : lastAt,
      trust: lowestOf(this.#told.trust, trust),
    };
    for (const file of files) if (!isWaiting) this.#files.add(placeKey(file));
  }

  get told(): ChangeSource {
    return { ...this.#told, files: this.#files.size };
  }
}

/**
 * The tools of the family `run-history`. Other commands know only roles, and no role has events with times and types.
 */
import { trashFolder } from "../../../shared/path.ts";
import type { WireEvent } from "../../../shared/run-history/wire-event.ts";
import type { Runtime } from "../../runtime/api.ts";
import type { MemoryChange } from "../../values/memory-change.ts";
import { errorOf } from "../../values/tool-result.ts";

export const runsFamily = "run-history";

/** The file of a run whose folder is the run's name in the trash. */
const headName = "/run.json";

type ChangedFile = MemoryChange["files"][number];

export interface RunIds {
  readonly agentId: string;
  readonly runId: string;
}

export interface ListedRun extends RunIds {
  readonly events: number;
  /** Empty, like `lastAt`, if the run has no events. */
  readonly firstAt: string;
  readonly lastAt: string;
  readonly bytes: number;
}

interface RunsPage {
  readonly entries: readonly ListedRun[];
  /** For the next page; `null` if there is none. */
  readonly after: string | null;
}

export interface EventsPage {
  readonly events: readonly WireEvent[];
  readonly more: boolean;
  readonly meta: { readonly damagedLines: number; readonly cursor: string };
}

export interface DeletedRun {
  readonly files: number;
  readonly bytes: number;
  /** Where its files were. */
  readonly scope: string;
  /** The name that brings them all back. */
  readonly name: string;
}

export class RunTools {
  readonly #runtime: Runtime;
  readonly #ctx: { readonly userId: string };

  constructor(runtime: Runtime, ctx: { readonly userId: string }) {
    [this.#runtime, this.#ctx] = [runtime, ctx];
  }

  /** All runs of a user, or those of one agent, in pages. */
  async *list(agentId: string | undefined): AsyncGenerator<readonly ListedRun[]> {
    let after: string | null | undefined;
    do {
      const page: RunsPage = await this.#call("ListRuns", { agentId, after });
      yield page.entries;
      ({ after } = page);
    } while (after !== null);
  }

  /** The events of a run in the order of their times, in pages. */
  async *load(ids: RunIds): AsyncGenerator<EventsPage> {
    let page: EventsPage | undefined;
    do {
      page = await this.#call<EventsPage>("LoadRun", { ...ids, cursor: page?.meta.cursor });
      yield page;
    } while (page.more);
  }

  /** Moves a run to the trash. */
  async delete(ids: RunIds): Promise<DeletedRun> {
    const changed: ChangedFile[] = [];
    const stop = this.#runtime.onChange((change) => void changed.push(...change.files));
    try {
      const counts: { readonly files: number; readonly bytes: number } = await this.#call("DeleteRun", ids);
      return { ...counts, ...trashedName(changed) };
    } finally {
      stop();
    }
  }

  async #call<Data>(tool: string, input: unknown): Promise<Data> {
    const result = await this.#runtime.callAsHost(`${runsFamily}/${tool}`, input, this.#ctx);
    if (!result.ok) throw errorOf(result);
    return result.data as Data;
  }
}

/** `changed` has the old and the new path of each file. A damaged run can lack its head: then any file names the run. */
function trashedName(changed: readonly ChangedFile[]): Pick<DeletedRun, "scope" | "name"> {
  const head = changed.find(({ path }) => path.endsWith(headName));
  if (head !== undefined) return { scope: head.scope, name: head.path.slice(0, -headName.length) };
  const { scope = "", path = "" } = changed[1] ?? {};
  return { scope, name: path.slice(`${trashFolder}/`.length) };
}

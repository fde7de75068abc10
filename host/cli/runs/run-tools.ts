/**
 * The tools of the family `run-history`. Other commands know only roles, and no role has events with times and types.
 */
import { trashFolder } from "../../../shared/path.ts";
import type { WireEvent } from "../../../shared/run-history/wire-event.ts";
import { quoted } from "../../../shared/text.ts";
import type { Runtime } from "../../runtime/api.ts";
import type { MemoryChange } from "../../values/memory-change.ts";
import { ToolError } from "../../values/tool-error.ts";
import { errorOf } from "../../values/tool-result.ts";
import { refuseUnknown } from "../open-runtime.ts";

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

  /** Throws `ENTRY_NOT_FOUND` if nothing is stored of the user. */
  async refuseUnknownUser(): Promise<void> {
    await refuseUnknown(this.#runtime, this.#ctx.userId, "list the runs");
  }

  /** Throws `ENTRY_NOT_FOUND` if there is no such run: to load it gives no events. */
  async refuseUnknownRun({ agentId, runId }: RunIds): Promise<void> {
    for await (const page of this.list(agentId)) {
      if (page.some((run) => run.agentId === agentId && run.runId === runId)) return;
    }
    const what = `the agent ${quoted(agentId)} has no run ${quoted(runId)}`;
    throw new ToolError("ENTRY_NOT_FOUND", `Cannot show the run: ${what}`);
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

import type { Envelope } from "../../shared/envelope.ts";
import { isAtLeast } from "../../shared/origin.ts";
import { isDerivedFile, isEntryFile } from "../plugins/family-files.ts";
import { reachesStores, showsEntries } from "../plugins/loaded-tools.ts";
import type { CatalogTool } from "../plugins/loaded-tools.ts";
import { StaleCall } from "../store/plan-changes.ts";
import type { Seen, SizedChange } from "../values/change-set.ts";
import type { ToolSuccess } from "../values/tool-result.ts";
import type { CallOptions, EntryView } from "./asked-call.ts";
import { canShowHidden, entryOrigins, filesRead, keyOf } from "./entry-origins.ts";
import type { HiddenFile } from "./entry-origins.ts";
import type { ReadScope } from "./read-scope.ts";

type Stage = (epochMs: number) => Promise<readonly SizedChange[]>;

/** What a run of a call's guest is shown of the entries, and where they come from. Valid as long as they are held. */
export class ShownEntries {
  readonly #found: CatalogTool;
  readonly #scopes: readonly ReadScope[];
  readonly #view: EntryView | null;
  readonly #isWanted: boolean;
  #hidden: ReadonlyMap<string, HiddenFile> = new Map();

  constructor(found: CatalogTool, scopes: readonly ReadScope[], { view = null, isUpkeep }: ShownOptions) {
    this.#found = found;
    this.#scopes = scopes;
    this.#view = view;
    this.#isWanted = isUpkeep !== true && showsEntries(found);
  }

  /** What the guest reads as done; `undefined` if there is nothing. `stage`: what the caller adds, if it adds anything. */
  staging(stage: Stage | undefined): Stage | undefined {
    const view = this.#view;
    if (view === null) return stage;
    return async (epochMs) => [...((await stage?.(epochMs)) ?? []), ...(await this.#removals(view)), ...view.made];
  }

  /** Whether it matters which files the guest reads. */
  get needsSeen(): boolean {
    return this.#view !== null || (this.#isWanted && this.#scopes.some(({ hasStated }) => hasStated));
  }

  /** An answer as the caller gets it. `seen`: what the guest has read, if that is needed. */
  async withOrigins(answer: Extract<Envelope, { ok: true }>, seen: readonly Seen[]): Promise<ToolSuccess> {
    if (!this.needsSeen) return answer;
    const view = this.#view;
    const made = (view?.made ?? []).map(({ scope, path }) => ({ scope, path, digest: null }));
    const common = { found: this.#found, scopes: this.#scopes, hidden: this.#hidden };
    const answered = { ...common, seen: [...seen, ...made], answer };
    // Somebody has just moved it there by hand.
    if (view !== null && (await filesRead(answered)).some(({ trust }) => !isAtLeast(trust, view.least)))
      throw new StaleCall();
    view?.tells?.(canShowHidden(answered));
    const origins = this.#isWanted ? await entryOrigins(answered) : [];
    return origins.length === 0 ? answer : { ...answer, origins };
  }

  async #removals({ least }: EntryView): Promise<SizedChange[]> {
    const removals: SizedChange[] = [];
    const hidden = new Map<string, HiddenFile>();
    for (const scope of this.#scopes) {
      const files = await scope.files(true);
      const isHidden = (path: string): boolean =>
        isEntryFile(this.#found.files, { scope: scope.scope, path }) &&
        !isAtLeast(files.get(path)?.trust ?? "owner_edit", least);
      const paths = Array.from(files.keys()).filter(isHidden);
      for (const path of paths) hidden.set(keyOf({ scope, path }), { scope, path });
      const derived = paths.length > 0 && reachesStores(this.#found) ? this.#derivedIn(scope, files) : [];
      removals.push(...[...paths, ...derived].map((path) => removal(scope, path)));
    }
    this.#hidden = hidden;
    return removals;
  }

  /** No tool mends another's store. A family makes its derived files again when they are missing. */
  #derivedIn({ scope }: ReadScope, files: ReadonlyMap<string, unknown>): string[] {
    return Array.from(files.keys()).filter((path) => isDerivedFile(this.#found.files, { scope, path }));
  }
}

type ShownOptions = Pick<CallOptions, "isUpkeep"> & { readonly view?: EntryView | null | undefined };

const removal = ({ scope }: ReadScope, path: string): SizedChange => ({ kind: "remove", scope, path, bytes: 0 });

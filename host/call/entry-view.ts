/** What a call's guest is shown of the entries, and what its caller is told of those that its answer shows. */
import type { Envelope } from "../../shared/envelope.ts";
import { isAtLeast } from "../../shared/origin.ts";
import { isDerivedFile, isEntryFile } from "../plugins/family-files.ts";
import { reachesStores, showsEntries } from "../plugins/loaded-tools.ts";
import type { CatalogTool } from "../plugins/loaded-tools.ts";
import { StaleCall } from "../store/plan-changes.ts";
import type { WorkerReply } from "../thread/worker.ts";
import type { SizedChange } from "../values/change-set.ts";
import type { ToolSuccess } from "../values/tool-result.ts";
import { originsOf, readBy, shownBy } from "./answer-origins.ts";
import type { CallOptions, EntryView } from "./asked-call.ts";
import type { ReadScope } from "./read-scope.ts";

/** The entries as a run of the guest sees them. Valid as long as its scopes are held. */
export interface SeenEntries {
  readonly found: CatalogTool;
  readonly scopes: readonly ReadScope[];
  /** `null`: it sees everything. */
  readonly view: EntryView | null;
  /** What it reads as done, so that it does not see the rest. */
  readonly changes: readonly SizedChange[];
  /** What it does not see, by `placeIn`. */
  readonly hidden: ReadonlySet<string>;
  /** Whether the caller is told where entries come from. */
  readonly isTold: boolean;
}

export async function seenEntries(
  found: CatalogTool,
  scopes: readonly ReadScope[],
  { view = null, isUpkeep = false }: { readonly view?: EntryView | null } & Pick<CallOptions, "isUpkeep">,
): Promise<SeenEntries> {
  const isTold = !isUpkeep && showsEntries(found) && scopes.some(({ hasStated }) => hasStated);
  const hiding = view === null ? { changes: [], hidden: new Set<string>() } : await hide(found, scopes, view);
  return { found, scopes, view, isTold, ...hiding };
}

/** An answer as the caller gets it. Throws `StaleCall` if the guest has read what it was not to see. */
export async function withOrigins(
  answer: Extract<Envelope, { ok: true }>,
  { seen, shows }: Pick<WorkerReply, "seen" | "shows">,
  { found, scopes, view, hidden, isTold }: SeenEntries,
): Promise<ToolSuccess> {
  if (view === null && !isTold) return answer;
  const made = (view?.made ?? []).map(({ scope, path }) => ({ scope, path, digest: "made" }));
  const read = await readBy(found, scopes, [...seen, ...made]);
  // Somebody has just moved it there by hand.
  if (view !== null && Array.from(read.files.values()).some(({ trust }) => !isAtLeast(trust, view.least)))
    throw new StaleCall();
  const shown = await shownBy(found, read, { shows, hidden });
  view?.tells?.(shown.canShowHidden);
  const origins = isTold ? originsOf(shown.files, found) : [];
  return origins.length === 0 ? answer : { ...answer, origins };
}

/** Hides the entries that are trusted less than the view says. */
async function hide(
  found: CatalogTool,
  scopes: readonly ReadScope[],
  { least, made }: EntryView,
): Promise<Pick<SeenEntries, "changes" | "hidden">> {
  const changes: SizedChange[] = [];
  const hidden = new Set<string>();
  for (const each of scopes) {
    const { scope } = each;
    const files = await each.files(true);
    const isHidden = (path: string): boolean =>
      isEntryFile(found.files, { scope, path }) && !isAtLeast(files.get(path)?.trust ?? "owner_edit", least);
    const paths = Array.from(files.keys()).filter(isHidden);
    for (const path of paths) hidden.add(each.placeOf(path));
    // No tool mends another's store. A family makes its derived files again when they are missing.
    const isDropped = (path: string): boolean => isDerivedFile(found.files, { scope, path });
    const derived = paths.length > 0 && reachesStores(found) ? Array.from(files.keys()).filter(isDropped) : [];
    for (const path of [...paths, ...derived]) changes.push({ kind: "remove", scope, path, bytes: 0 });
  }
  return { changes: [...changes, ...made], hidden };
}

/** Lists a WAL that is not retired: what is in it, and what becomes of it. */
import type { Directory } from "../../disk/directory.ts";
import type { StoreFinding } from "../store.ts";
import { isOfOtherBoot, WalDamaged } from "./commit/find-records.ts";
import type { WalTail } from "./commit/find-records.ts";
import { judgeFiles } from "./commit/judge-files.ts";
import type { Judging, Verdict } from "./commit/judge-files.ts";
import { walFile } from "./commit/wal-names.ts";
import { Wal } from "./commit/wal.ts";
import { hostFolder } from "./home.ts";
import type { Home } from "./home.ts";
import { ScopeFolders } from "./scope-folders.ts";

/** What is known from outside when a WAL is looked at. */
export interface WalMoment {
  /** The machine's current boot id. */
  readonly boot: string | null;
  /** The WAL as this process has left it: this process retires it soon. */
  readonly known: WalTail | null;
}

/** A WAL that was written to so recently probably belongs to a running process, which retires it soon. */
const inUseMs = 10_000;

/** How many paths a finding names. */
const pathsMax = 10;

export function walFindings(
  home: Home,
  { inside, own }: { readonly inside: Directory; readonly own: Directory },
  { boot, known }: WalMoment,
): StoreFinding[] {
  const path = `${hostFolder}/${walFile}`;
  const writtenUs = own.measure(walFile)?.writtenUs ?? 0;
  const found = { path, ageMs: Math.max(0, Math.round(Date.now() - writtenUs / 1_000)) };
  try {
    using wal = Wal.open(own, home, { known, isRead: true });
    if (wal === null || wal.isAsKnown || (wal.records.length === 0 && !wal.isDistrusted)) return [];
    using folders = new ScopeFolders(inside, { kind: home.kind, folds: new Map() });
    const message = `it has ${wal.records.length} records that are not retired, of ${pathsIn(wal.records.flatMap(({ files }) => files))}`;
    const isUnfinished = wal.isDistrusted || isOfOtherBoot(wal.records, boot) || unfinishedIn(wal);
    if (isUnfinished)
      return [{ ...found, code: "wal-unfinished", message, remedy: remedyFor({ own, folders, wal }, boot) }];
    const retiring = "flush these files and empty it";
    if (found.ageMs > inUseMs) return [{ ...found, code: "wal-left-over", message, remedy: retiring }];
    return [{ ...found, code: "wal-in-use", message, remedy: null }];
  } catch (error) {
    if (!(error instanceof WalDamaged)) throw error;
    const remedy = "put it aside and begin a new one";
    return [{ ...found, code: "wal-unfinished", message: "it cannot be read as a WAL", remedy }];
  }
}

const unfinishedIn = ({ records }: Wal): boolean => records.at(-1)?.isApplied === false;

/** What recovery would do; `null` if it cannot read a file. */
function remedyFor({ own, folders, wal }: Judging & { readonly wal: Wal }, boot: string | null): string | null {
  try {
    if (wal.isDistrusted || isOfOtherBoot(wal.records, boot)) return restoring(judgeFiles({ own, folders, wal }));
    for (const { scope, path } of wal.records.at(-1)?.files ?? []) folders.read(scope, path);
  } catch {
    return null;
  }
  return "finish the last change, and flush these files";
}

/** By verdict, in words. `done` needs none. */
const doing: Readonly<Record<Exclude<Verdict, "done">, string>> = {
  "put back": "put back the recorded version of",
  removed: "remove, as recorded,",
  kept: "keep, as someone has changed it since,",
};

function restoring(
  files: readonly { readonly verdict: Verdict; readonly scope: string; readonly path: string }[],
): string {
  const clauses = Object.entries(doing).flatMap(([verdict, words]) => {
    const some = files.filter((file) => file.verdict === verdict);
    return some.length === 0 ? [] : [`${words} ${pathsIn(some)}`];
  });
  return [...clauses, "flush the files and empty it"].join("; ");
}

function pathsIn(files: readonly { readonly scope: string; readonly path: string }[]): string {
  const paths = [...new Set(files.map(({ scope, path }) => `${scope}/${path}`))];
  const more = paths.length > pathsMax ? ` and ${paths.length - pathsMax} more` : "";
  return paths.slice(0, pathsMax).join(", ") + more;
}

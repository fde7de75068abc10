import { inTurns } from "../../values/turns.ts";
import type { StoreFinding } from "../holding.ts";
import { faultInHistory } from "../versions/version-chain.ts";
import type { HeldHome } from "./held-home.ts";
import { notAsRecorded } from "./known-file.ts";
import { countChanges, listDamaged, listVersions } from "./statements.ts";

/** What somebody who has the owner's role has changed, or the disk. Every version and every content is read. */
export async function homeFindings(home: HeldHome): Promise<StoreFinding[]> {
  const { place } = home;
  const asked = [listVersions(place), countChanges(place), listDamaged(place)];
  const [versions = [], [counted] = [], damaged = []] = await home.transaction.ask(...asked);
  const lines = versions.map(({ line }) => String(line));
  const { isBroken, head } = home.facts;
  const fault = isBroken
    ? "the last change set is missing: no file has any trust"
    : ((await inTurns(faultInHistory(lines, head))) ?? missingIn(Number(counted?.["changes"] ?? 0), home));
  const history = fault === null ? [] : [{ code: "history-broken", path: "history", message: fault, remedy: null }];
  const contents = damaged.map(({ scope, path }) => ({
    code: "content-damaged",
    path: scope === null ? "history" : `${String(scope)}/${String(path)}`,
    message: scope === null ? "it has a content whose hash is not the recorded one" : notAsRecorded,
    remedy: scope === null ? "forget the content" : "take it as an edit of which nobody says where it comes from",
  }));
  return [...history, ...contents];
}

const missingIn = (changes: number, { facts }: HeldHome): string | null =>
  changes === facts.commits ? null : `${changes} change sets are there of ${facts.commits}`;

import type { StoreFinding } from "../holding.ts";
import { VersionChain } from "../versions/version-chain.ts";
import { parseLine } from "../versions/version-line.ts";
import type { HeldHome } from "./held-home.ts";
import { notAsRecorded } from "./known-file.ts";
import { listDamaged, listVersions } from "./statements.ts";

/** What somebody who has the owner's role has changed, or the disk. Every version and every content is read. */
export async function homeFindings(home: HeldHome): Promise<StoreFinding[]> {
  const [versions = [], damaged = []] = await home.transaction.ask(listVersions(home.place), listDamaged(home.place));
  const fault = faultIn(
    versions.map(({ line }) => String(line)),
    home,
  );
  const history = fault === null ? [] : [{ code: "history-broken", path: "history", message: fault, remedy: null }];
  const contents = damaged.map(({ scope, path }) => ({
    code: "content-damaged",
    path: scope === null ? "history" : `${String(scope)}/${String(path)}`,
    message: scope === null ? "it has a content whose hash is not the recorded one" : notAsRecorded,
    remedy: null,
  }));
  return [...history, ...contents];
}

function faultIn(lines: readonly string[], { facts }: HeldHome): string | null {
  if (facts.isBroken) return "the last change set is missing: no file has any trust";
  // What was dropped before a home was copied is not here either.
  const chain = new VersionChain((lines[0] !== undefined && parseLine(lines[0])?.seq) || 1);
  for (const line of lines) {
    const fault = chain.faultIn(line);
    if (fault !== null) return fault;
  }
  const { seq, hash } = facts.head;
  return chain.last === null || (chain.last.seq === seq && chain.last.hash === hash)
    ? null
    : `version ${seq} is not the recorded one`;
}

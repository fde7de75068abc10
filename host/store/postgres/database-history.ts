import { placeKey } from "../../values/change-set.ts";
import { giveTurn, inTurns } from "../../values/turns.ts";
import type { StoreFinding } from "../reading.ts";
import { digestOf } from "../reading.ts";
import { PresentOrigins, loweredBy, loweredRunsMax } from "../versions/present-origins.ts";
import type { HeldHistory } from "../versions/present-origins.ts";
import { faultInHistory, noVersion, parseLine } from "../versions/version.ts";
import type { Version } from "../versions/version.ts";
import { notAsRecorded, originOf } from "./database-home.ts";
import type { DatabaseHome, OriginRow } from "./database-home.ts";
import { bytesOf, listVersions, sql } from "./statement.ts";

/** The history of a home. Only somebody who has the owner's role can have changed it. */
export function historyOf(home: DatabaseHome): HeldHistory {
  const { transaction, place } = home;
  const { tenant, kind } = place;
  return {
    state: () => home.facts,
    originOf: async (scope, path) => {
      const [found] = await home.find([{ scope, path }], false);
      return found !== undefined && found.sha256 !== null ? found.origin : null;
    },
    origins: async () => {
      const [rows] = await transaction.ask(sql<OriginRow>`
        SELECT scope, path, origin_seq::float8 AS origin_seq, encode(origin_sha256, 'hex') AS origin_sha256,
          origin_class, origin_trust, origin_ms::float8 AS origin_ms, origin_kind
        FROM memcell.files WHERE tenant = ${tenant} AND kind = ${kind} AND origin_seq IS NOT NULL`);
      return rows.flatMap((row) => {
        const origin = originOf(row);
        return origin === null ? [] : [[placeKey(row), origin] as const];
      });
    },
    loweredRuns: async () => {
      const [rows] = await transaction.ask(sql<{ line: string }>`
        SELECT lines[1] AS line FROM memcell.changes WHERE tenant = ${tenant} AND kind = ${kind} AND is_lowering
        ORDER BY commit_no DESC LIMIT ${loweredRunsMax}`);
      const versions = rows.toReversed().flatMap(({ line }) => parseLine(line) ?? []);
      return new PresentOrigins(noVersion, [], versions.flatMap(loweredBy)).loweredRuns;
    },
    versions: async () => {
      const [rows] = await transaction.ask(listVersions(place));
      const versions: Version[] = [];
      for (const { line } of rows) {
        await giveTurn();
        const version = parseLine(line);
        if (version !== null && version.files.length > 0) versions.push(version);
      }
      return versions;
    },
    contentsOf: async (hashes) => {
      const [rows] = await transaction.ask(sql<{ sha256: string; content: Buffer }>`
        SELECT encode(sha256, 'hex') AS sha256, content FROM memcell.contents
        WHERE tenant = ${tenant} AND kind = ${kind} AND is_kept AND sha256 = ANY (${[...hashes].map(bytesOf)}::bytea[])`);
      const whole = rows.filter(({ sha256, content }) => digestOf(content) === sha256);
      return new Map(whole.map(({ sha256, content }) => [sha256, content]));
    },
  };
}

/** What somebody who has the owner's role has changed, or the disk. Every version and every content is read. */
export async function findingsOf({ transaction, place, facts }: DatabaseHome): Promise<StoreFinding[]> {
  const { tenant, kind } = place;
  const [versions, [counted], damaged] = await transaction.ask(
    listVersions(place),
    sql<{ changes: number }>`
      SELECT count(*)::float8 AS changes FROM memcell.changes WHERE tenant = ${tenant} AND kind = ${kind}`,
    // Contents that are not what their hashes say, and the files that have them.
    sql<{ scope: string | null; path: string | null }>`
      SELECT f.scope, f.path FROM memcell.contents c LEFT JOIN memcell.files f USING (tenant, kind, sha256)
      WHERE c.tenant = ${tenant} AND c.kind = ${kind} AND pg_catalog.sha256(c.content) <> c.sha256
      ORDER BY f.scope, f.path`,
  );
  const lines = versions.map(({ line }) => line);
  const changes = counted?.changes ?? 0;
  const fault = facts.isBroken
    ? "the last change set is missing: no file has any trust"
    : ((await inTurns(faultInHistory(lines, facts.head))) ??
      (changes === facts.commits ? null : `${changes} change sets are there of ${facts.commits}`));
  const history = fault === null ? [] : [{ code: "history-broken", path: "history", message: fault, remedy: null }];
  const contents = damaged.map(({ scope, path }) => ({
    code: "content-damaged",
    path: scope === null ? "history" : `${scope}/${path}`,
    message: scope === null ? "it has a content whose hash is not the recorded one" : notAsRecorded,
    remedy: scope === null ? "forget the content" : "take it as an edit of which nobody says where it comes from",
  }));
  return [...history, ...contents];
}

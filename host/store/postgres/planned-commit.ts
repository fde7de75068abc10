/** Plans what is to be changed in one home, and the statements that make it. */
import { randomUUID } from "node:crypto";

import { movedTo, placeKey } from "../../values/change-set.ts";
import type { Change, Place, Seen } from "../../values/change-set.ts";
import { agree } from "../../values/clock-reading.ts";
import type { Agreement } from "../../values/clock-reading.ts";
import { ownStoreOf } from "../../values/ids.ts";
import type { StoreId, UserId } from "../../values/ids.ts";
import { inTurns } from "../../values/turns.ts";
import type { StoreSettings } from "../definition.ts";
import type { EngineCommit, NewGrants, StagedRecord } from "../engine.ts";
import { refuseFull } from "../grant-hints.ts";
import { isOfEntries } from "../home.ts";
import { StaleCall, planChanges } from "../plan-changes.ts";
import type { PlannedFile } from "../plan-changes.ts";
import { agedContents, contentsOfPurged, isAgingDue } from "../versions/old-contents.ts";
import type { AgeBound } from "../versions/old-contents.ts";
import { loweringAfter, planAsking, planVersions } from "../versions/plan-versions.ts";
import type { VersionGround, VersionedChange } from "../versions/plan-versions.ts";
import { PresentOrigins } from "../versions/present-origins.ts";
import type { HeldHistory } from "../versions/present-origins.ts";
import type { PlannedVersion } from "../versions/version.ts";
import { historyOf } from "./database-history.ts";
import type { DatabaseHome, FreePlace, HomeFacts, KnownFile } from "./database-home.ts";
import { bytesOf, column, leaveStores, setGrants, sql } from "./statement.ts";
import type { HomePlace, Statement } from "./statement.ts";

/** It has no statements if there is nothing to do. */
export interface PlannedCommit {
  readonly home: DatabaseHome;
  readonly statements: readonly Statement[];
  /** What is known of the home after it. */
  readonly after: HomeFacts;
  /** Has rows once a change set was made; `null` if there is none. */
  readonly ofChange: Statement | null;
  /** Has rows if the records are as they are to be; `null` if none changes. */
  readonly ofRecords: Statement | null;
}

export async function planCommit(
  home: DatabaseHome,
  settings: StoreSettings,
  commit: EngineCommit,
): Promise<PlannedCommit> {
  const { place, facts } = home;
  const { tenant, kind } = place;
  const { grants, records } = commit;
  // A user who has only records has a home, too.
  const isNamed = kind === "user" && records.some(({ text }) => text !== null);
  const before = isNamed ? { ...facts, version: "committed" } : facts;
  const ofFiles = await planFiles(home, settings, commit);
  const changes = [...ofFiles, ...planLowered(commit, ofFiles[0]?.after ?? before)];
  if (grants) await refuseFullGrantees(home, grants);
  const id = randomUUID();
  const named = sql`INSERT INTO memcell.homes (tenant, kind, user_id) VALUES (${tenant}, ${kind}, ${commit.home.id})
    ON CONFLICT DO NOTHING`;
  const found = sql`SELECT FROM memcell.changes
    WHERE tenant = ${tenant} AND kind = ${kind} AND commit_no > ${facts.commits} AND id = ${id}`;
  return {
    home,
    statements: [
      ...(grants ? [setGrants(tenant, grants.granted, grants.revoked)] : []),
      ...(isNamed ? [named] : []),
      ...records.map((each) => changeRecord(place, each)),
      ...changes.map((change) => commitChange(place, { id, userId: ownerOf(commit) }, change)),
    ],
    after: changes.at(-1)?.after ?? before,
    ofChange: changes.length > 0 ? found : null,
    ofRecords: kind === "user" && records.length > 0 ? areRecords(place, records) : null,
  };
}

async function refuseFullGrantees({ transaction, place }: DatabaseHome, { granted, nowMs }: NewGrants): Promise<void> {
  if (granted.length === 0) return;
  const asked = granted.map(
    ({ grantee }) => sql<{ grants: number }>`
      SELECT memcell.count_grants(${grantee}, ${place.tenant}, ${Math.trunc(nowMs)})::float8 AS grants`,
  );
  for (const [row] of await transaction.ask(...asked)) refuseFull(row?.grants ?? 0);
}

/** The user whose home it is; `null` if nobody has told. */
function ownerOf({ home, by }: EngineCommit): UserId | null {
  if (home.kind === "user") return home.id;
  return by !== null && ownStoreOf(by) === home.id ? by : null;
}

export function changeRecord({ tenant }: HomePlace, { kind, name, text }: StagedRecord): Statement {
  if (kind === "left") return (text === null ? rejoinStores : leaveStores)(tenant, [name as StoreId]);
  return text === null
    ? sql`DELETE FROM memcell.records WHERE tenant = ${tenant} AND record_kind = ${kind} AND name = ${name}`
    : sql`INSERT INTO memcell.records (tenant, record_kind, name, body) VALUES (${tenant}, ${kind}, ${name}, ${text})
        ON CONFLICT (tenant, record_kind, name) DO UPDATE SET body = excluded.body`;
}

const rejoinStores = (principal: StoreId, stores: readonly StoreId[]): Statement =>
  sql`DELETE FROM memcell.left_stores WHERE tenant = ${principal} AND store = ANY (${stores}::uuid[])`;

/** A row if all records are like this. */
const areRecords = ({ tenant }: HomePlace, records: readonly StagedRecord[]): Statement =>
  sql`SELECT WHERE NOT EXISTS (
    SELECT FROM unnest(
      ${column(records, "kind")}::text[], ${column(records, "name")}::text[], ${column(records, "text")}::text[]
    ) AS w (record_kind, name, body)
    LEFT JOIN memcell.records r ON r.tenant = ${tenant} AND r.record_kind = w.record_kind AND r.name = w.name
    WHERE r.body IS DISTINCT FROM w.body
  )`;

/** A change set of a home, with a number of its own. */
interface PlannedChange {
  /** What it is based on. */
  readonly seen?: readonly Pick<PlannedFile, "scope" | "path" | "before">[];
  readonly gone?: readonly Place[];
  readonly put?: readonly PutFile[];
  /** Of what is put. */
  readonly origins?: PresentOrigins;
  /** Contents that the history shall not keep, by their hashes. */
  readonly forgotten?: readonly string[];
  readonly versions: readonly PlannedVersion[];
  /** When old contents were looked for; `null` if they were not. */
  readonly agedMs?: number | null;
  /** Default: what the history keeps is bounded with the next change of files. */
  readonly keptBytesMax?: number;
  /** What is known of the home after it. */
  readonly after: HomeFacts;
}

/** A file as it is after the change set. Its content is `null` if the home has it. */
type PutFile = Omit<KnownFile, "changedUs" | "origin">;

function commitChange(
  { tenant, kind }: HomePlace,
  { id, userId }: { readonly id: string; readonly userId: UserId | null },
  { seen = [], gone = [], put = [], forgotten = [], versions, agedMs = null, ...change }: PlannedChange,
): Statement {
  const nowUs = Math.round((performance.timeOrigin + performance.now()) * 1_000);
  const { keptBytesMax = Number.MAX_SAFE_INTEGER } = change;
  const head = versions.at(-1)?.head;
  const origins = put.map(({ scope, path }) => change.origins?.of(scope, path));
  return sql`SELECT memcell.commit_change(
    ${tenant}, ${kind}, ${userId}, ${id}, ${nowUs},
    ${column(seen, "scope")}, ${column(seen, "path")}, ${column(seen, "before").map(bytesOf)},
    ${column(gone, "scope")}, ${column(gone, "path")},
    ${column(put, "scope")}, ${column(put, "path")}, ${column(put, "sha256").map(bytesOf)}, ${column(put, "bytes")},
    ${column(origins, "seq")}, ${column(origins, "class")}, ${column(origins, "trust")}, ${column(origins, "atMs")},
    ${column(origins, "kind")},
    ${column(put, "content")}, ${forgotten.map(bytesOf)},
    ${column(versions, "line")}, ${head?.seq ?? null}, ${head?.hash ?? null}, ${agedMs}, ${keptBytesMax}
  )`;
}

/** The change sets that say that the trust of runs has fallen. Each is alone in one, after what is known `before`. */
function planLowered({ home, lowered }: EngineCommit, before: HomeFacts): PlannedChange[] {
  let { head, commits } = before;
  return lowered.map((run) => {
    const versions = loweringAfter(head, run, home.id);
    head = versions.at(-1)?.head ?? head;
    return { versions, after: { ...before, version: "committed", commits: ++commits, head } };
  });
}

/** The change set of a home's files; none if there is nothing to do. */
async function planFiles(home: DatabaseHome, settings: StoreSettings, commit: EngineCommit): Promise<PlannedChange[]> {
  const { changes } = commit;
  if (changes.length === 0) return [];
  const found = await findFiles(home, changes, commit.seen);
  // A stamp says that a file is as it was found. Without it, a plan would read all contents.
  const stamps = Array.from(found.values()).flatMap(({ scope, path, sha256 }): Seen[] =>
    sha256 === null ? [] : [{ scope, path, digest: sha256, stamp: sha256 }],
  );
  const planned = await inTurns(planChanges(home, changes, stamps));
  const changed = planned.filter(({ isSame }) => !isSame);
  if (changed.length === 0) return [];
  const { facts } = home;
  const isRecorded = ({ scope }: Place): boolean => isOfEntries(home.place.kind, scope);
  const recorded = planned.filter(isRecorded);
  const history = historyOf(home);
  const ofFiles = { ...commit, planned: recorded, seen: commit.seen.filter(isRecorded) };
  const { versions, origins } = await planHistory(history, found, ofFiles);
  const nowMs = settings.clock();
  const aging = isAgingDue(facts.agedMs, nowMs) ? await agreeToAge(home, nowMs) : null;
  const agedMs = aging?.noted.atMs ?? null;
  const { daysMax, bytesMax: keptBytesMax } = settings.history;
  const forgotten = await forgottenWith(history, commit, recorded, { daysMax, nowMs: aging?.agreedMs ?? 0 });
  const written = new Set(changed.map(placeKey));
  // What the change set does not write, but a version names because somebody has edited it.
  const edited = versions.flatMap(({ version }) => version.files).filter((file) => !written.has(placeKey(file)));
  const put = [...changed.flatMap(writtenFile), ...edited.flatMap((file) => editedFile(found.get(placeKey(file))))];
  const head = versions.at(-1)?.head ?? facts.head;
  const after = {
    ...facts,
    scopes: [...new Set([...facts.scopes, ...changed.flatMap(({ scope, after: to }) => (to === null ? [] : scope))])],
    version: "committed",
    commits: facts.commits + 1,
    head,
    filesHead: head,
    agedMs: agedMs ?? facts.agedMs,
    hasStated: facts.hasStated || origins.hasStated,
  };
  const gone = changed.filter(({ after: to }) => to === null);
  return [{ seen: planned, gone, put, origins, forgotten, versions, agedMs, keptBytesMax, after }];
}

/** By place. */
type FoundFiles = ReadonlyMap<string, KnownFile | FreePlace>;

/** Finds what is changed, and what that is based on. Throws `StaleCall` if what is changed is not as it was seen. */
async function findFiles(home: DatabaseHome, changes: readonly Change[], seen: readonly Seen[]): Promise<FoundFiles> {
  const moved = changes.filter((change) => movedTo(change) !== null);
  const targets = moved.map((change) => ({ scope: change.scope, path: movedTo(change) ?? change.path }));
  const touched = [...changes, ...targets];
  const found = new Map((await home.find([...touched, ...seen], false)).map((file) => [placeKey(file), file]));
  await home.find(moved, true);
  const keys = new Set(touched.map(placeKey));
  for (const file of seen) {
    const key = placeKey(file);
    if (keys.has(key) && found.get(key)?.sha256 !== file.digest) throw new StaleCall();
  }
  return found;
}

/** Versions, and the origins of the files that they have to do with. All versions so far are read only if need be. */
async function planHistory(
  history: HeldHistory,
  found: FoundFiles,
  change: VersionedChange,
): Promise<{ readonly versions: readonly PlannedVersion[]; readonly origins: PresentOrigins }> {
  const { head, unknown, isBroken } = history.state();
  const known = Array.from(found).flatMap(([key, file]) =>
    file.sha256 !== null && file.origin !== null ? [[key, file.origin] as const] : [],
  );
  const plan = async (versionsOf: VersionGround["versions"]) => {
    const origins = new PresentOrigins(head, known);
    const versions = await inTurns(planVersions({ origins, unknown, isBroken, versions: versionsOf }, change));
    for (const { version, head: after } of versions) origins.add(version, after);
    return { versions, origins };
  };
  return await planAsking(plan, () => history.versions());
}

/** On the time by which contents are too old. What is noted is committed with the change. */
async function agreeToAge({ transaction, place, facts }: DatabaseHome, nowMs: number): Promise<Agreement> {
  const { tenant, kind } = place;
  const [[row]] = await transaction.ask(sql<{ aged_by: string | null }>`
    SELECT aged_by FROM memcell.homes WHERE tenant = ${tenant} AND kind = ${kind}`);
  // By which process old contents were last looked for, and how long it had been running.
  const [process = "", uptime = "0"] = (row?.aged_by ?? "").split(" ");
  const { agedMs: atMs } = facts;
  const agreement = agree(atMs === 0 ? null : { atMs, process, uptimeMs: Number(uptime) }, nowMs);
  const { noted } = agreement;
  await transaction.ask(sql`
    UPDATE memcell.homes SET aged_by = ${`${noted.process} ${noted.uptimeMs}`}
    WHERE tenant = ${tenant} AND kind = ${kind}`);
  return agreement;
}

/** The contents that the history does not keep any more: of what is purged, and what is too old. */
async function forgottenWith(
  history: HeldHistory,
  { kind, derived }: EngineCommit,
  gone: readonly PlannedFile[],
  age: AgeBound,
): Promise<string[]> {
  if (kind !== "purged" && age.nowMs === 0) return [];
  const origins = new PresentOrigins(history.state().head, await history.origins());
  const versions = await history.versions();
  const hashes = gone.flatMap(({ before }) => before ?? []);
  return [
    ...(kind === "purged" ? contentsOfPurged(versions, { gone, hashes, derived }, origins) : []),
    ...agedContents(versions, origins, { ...age, isThere: () => true }),
  ];
}

function writtenFile({ scope, path, after, sha256, from }: PlannedFile): PutFile[] {
  if (after === null || sha256 === null) return [];
  return [{ scope, path, sha256, bytes: after.length, content: from === null ? after : null }];
}

const editedFile = (file: KnownFile | FreePlace | undefined): PutFile[] =>
  file === undefined || file.sha256 === null ? [] : [{ ...file, content: null }];

/** Plans a change set of one home, and the statement that makes it. */
import { randomUUID } from "node:crypto";

import { movedTo } from "../../values/change-set.ts";
import type { Seen } from "../../values/change-set.ts";
import { agree } from "../../values/clock-reading.ts";
import type { Agreement } from "../../values/clock-reading.ts";
import { ownStoreOf } from "../../values/store-id.ts";
import { inTurns } from "../../values/turns.ts";
import type { UserId } from "../../values/user-id.ts";
import type { DerivedFiles, EngineCommit } from "../engine.ts";
import { isOfEntries } from "../home.ts";
import { checkBytes, unsafe } from "../listed-files.ts";
import { planChanges, StaleCall } from "../plan-changes.ts";
import type { PlannedFile, PresentFiles } from "../plan-changes.ts";
import { checkedScope, segmentsOf } from "../reading.ts";
import type { StoreSettings } from "../store-settings.ts";
import { agedContents, isAgingDue } from "../versions/aged-contents.ts";
import { loweringAfter, planVersions } from "../versions/plan-versions.ts";
import type { PlannedVersion, VersionedChange } from "../versions/plan-versions.ts";
import { placeKey, PresentOrigins } from "../versions/present-origins.ts";
import { contentsOfPurged } from "../versions/purged-contents.ts";
import type { Version } from "../versions/version.ts";
import { DatabaseHistory } from "./database-history.ts";
import { checkFree } from "./database-home.ts";
import type { DatabaseHome, HomeFacts } from "./database-home.ts";
import type { HomePlace } from "./home-place.ts";
import { isKnownFile, notAsRecorded } from "./known-file.ts";
import type { KnownFile } from "./known-file.ts";
import { agedBy, commitChange, noteAgedBy } from "./statements.ts";
import type { PutFile, Statement } from "./statements.ts";

interface Place {
  readonly scope: string;
  readonly path: string;
}

/** A change set of one home. */
export interface PlannedChange {
  readonly statement: Statement;
  /** By which the database knows the change set later. */
  readonly id: string;
  /** What is known of the home after it. */
  readonly after: HomeFacts;
}

/** The change set of a home's files. Returns `null` if there is nothing to do. */
export async function planCommit(
  home: DatabaseHome,
  settings: StoreSettings,
  wanted: EngineCommit,
): Promise<PlannedChange | null> {
  if (wanted.changes.length === 0) return null;
  const planned = await planFiles(home, wanted);
  const id = randomUUID();
  const changed = planned.filter(({ isSame }) => !isSame);
  if (changed.length === 0) return null;
  const history = new DatabaseHistory(home);
  const isRecorded = ({ scope }: Pick<Place, "scope">): boolean => isOfEntries(home.place.kind, scope);
  const recorded = planned.filter(isRecorded);
  const seen = wanted.seen.filter(isRecorded);
  const { versions, origins } = await planHistory(home, history, { ...wanted, seen, planned: recorded });
  const nowMs = settings.clock();
  const aging = isAgingDue(home.facts.agedMs, nowMs) ? await agreeToAge(home, nowMs) : null;
  const forgotten = [
    ...(wanted.isPurge ? await purgedContents(history, recorded, wanted.derived) : []),
    ...(aging !== null && home.facts.commits > 0 ? await contentsToAge(history, settings, aging.agreedMs) : []),
  ];
  const written = new Set(changed.map(placeKey));
  const edited = versions.flatMap(({ version }) => version.files).filter((file) => !written.has(placeKey(file)));
  const head = versions.at(-1)?.head ?? null;
  const statement = commitChange(home.place, {
    id,
    userId: ownerOf(wanted),
    seen: planned.map(({ scope, path, before }) => ({ scope, path, digest: before })),
    gone: changed.filter(({ after }) => after === null),
    put: [
      ...changed.flatMap((file) => putFile(file, origins)),
      ...edited.flatMap(({ scope, path }) => editedFile(home, { scope, path }, origins)),
    ],
    forgotten,
    lines: versions.map(({ line }) => line),
    head,
    agedMs: aging?.noted.atMs ?? null,
    keptBytesMax: settings.history.bytesMax,
  });
  const after: HomeFacts = {
    ...home.facts,
    scopes: [
      ...new Set([...home.facts.scopes, ...changed.filter((file) => file.after !== null).map(({ scope }) => scope)]),
    ],
    version: "committed",
    commits: home.facts.commits + 1,
    head: head ?? home.facts.head,
    filesHead: head ?? home.facts.head,
    agedMs: aging?.noted.atMs ?? home.facts.agedMs,
    hasStated: home.facts.hasStated || origins.hasStated,
  };
  return { statement, id, after };
}

/** The change sets that say that the trust of runs has fallen. Each is alone in one, after what is known `before`. */
export function planLowered(place: HomePlace, { home, lowered }: EngineCommit, before: HomeFacts): PlannedChange[] {
  let { head, commits } = before;
  return lowered.map((each) => {
    const [id, versions] = [randomUUID(), loweringAfter(head, each, home.id)];
    head = versions.at(-1)?.head ?? head;
    const change = { ...noFiles, id, userId: home.id, lines: versions.map(({ line }) => line), head };
    const after = { ...before, version: "committed", commits: ++commits, head };
    return { statement: commitChange(place, change), id, after };
  });
}

/** What the history keeps is bounded with the next change of files. */
const noFiles = { seen: [], gone: [], put: [], forgotten: [], agedMs: null, keptBytesMax: Number.MAX_SAFE_INTEGER };

/** The user whose home it is; `null` if nobody has told. */
function ownerOf({ home, by }: EngineCommit): UserId | null {
  if (home.kind === "user") return home.id;
  return by !== null && ownStoreOf(by) === home.id ? by : null;
}

async function planFiles(home: DatabaseHome, { changes, seen }: EngineCommit): Promise<PlannedFile[]> {
  const moved = changes.filter((change) => movedTo(change) !== null);
  const targets = moved.map((change) => ({ scope: change.scope, path: movedTo(change) ?? change.path }));
  const places = [...changes, ...targets, ...seen].map(({ scope, path }) => ({ scope: checkedScope(scope), path }));
  for (const { path } of places) segmentsOf(path);
  const found = await home.find(places, false);
  await home.find(moved, true);
  refuseStale(home, [...changes, ...targets], seen);
  const stamps = found.flatMap((file): Seen[] =>
    isKnownFile(file) ? [{ scope: file.scope, path: file.path, digest: file.sha256, stamp: file.sha256 }] : [],
  );
  return await inTurns(planChanges(new PresentHome(home), changes, [...seen, ...stamps]));
}

/** Without the stamps of the medium, a plan would read again what the call has seen. */
function refuseStale(home: DatabaseHome, touched: readonly Place[], seen: readonly Seen[]): void {
  const keys = new Set(touched.map(placeKey));
  for (const file of seen.filter((each) => keys.has(placeKey(each)))) {
    const present = home.at(file);
    if (present !== undefined && file.digest !== (isKnownFile(present) ? present.sha256 : null)) throw new StaleCall();
  }
}

interface PlannedHistory {
  readonly versions: readonly PlannedVersion[];
  /** Of the files that the versions have to do with. */
  readonly origins: PresentOrigins;
}

/** All versions so far are asked for only if the plan needs them. */
async function planHistory(
  home: DatabaseHome,
  history: DatabaseHistory,
  change: VersionedChange,
): Promise<PlannedHistory> {
  const places = [...change.planned, ...change.seen].map(({ scope, path }) => ({ scope, path }));
  const found = (await home.find(places, false)).flatMap((file) =>
    isKnownFile(file) && file.origin !== null ? [[placeKey(file), file.origin] as const] : [],
  );
  const plan = async (all: readonly Version[], asked: () => void): Promise<PlannedHistory> => {
    const origins = new PresentOrigins(home.facts.head, found);
    const versionsOf = (): readonly Version[] => {
      asked();
      return all;
    };
    const { unknown, isBroken } = home.facts;
    const ground = { origins, unknown, isBroken, versions: versionsOf };
    const versions = await inTurns(planVersions(ground, change));
    for (const { version, head } of versions) origins.add(version, head);
    return { versions, origins };
  };
  let isAsked = false;
  const first = await plan([], () => {
    isAsked = true;
  });
  return isAsked ? await plan(await history.versions(), () => {}) : first;
}

function putFile({ scope, path, after, sha256, from }: PlannedFile, origins: PresentOrigins): PutFile[] {
  if (after === null || sha256 === null) return [];
  return [
    {
      scope,
      path,
      sha256,
      bytes: after.length,
      content: from === null ? after : null,
      origin: origins.of(scope, path),
    },
  ];
}

/** A file that the change set does not write, but that a version names because somebody has edited it. */
function editedFile(home: DatabaseHome, place: Place, origins: PresentOrigins): PutFile[] {
  const file = home.at(place);
  if (file === undefined || !isKnownFile(file)) return [];
  return [{ ...file, content: null, origin: origins.of(place.scope, place.path) }];
}

async function purgedContents(
  history: DatabaseHistory,
  gone: readonly PlannedFile[],
  derived: DerivedFiles,
): Promise<Set<string>> {
  const origins = new PresentOrigins(history.head, await history.origins());
  const hashes = gone.flatMap(({ before }) => before ?? []);
  return contentsOfPurged(await history.versions(), { gone, hashes, derived }, origins);
}

/** On the time by which contents are too old. What is noted is committed with the change. */
async function agreeToAge(home: DatabaseHome, nowMs: number): Promise<Agreement> {
  const [[row] = []] = await home.transaction.ask(agedBy(home.place));
  const [process = "", uptime = "0"] = String(row?.["aged_by"] ?? "").split(" ");
  const { agedMs } = home.facts;
  const agreement = agree(agedMs === 0 ? null : { atMs: agedMs, process, uptimeMs: Number(uptime) }, nowMs);
  const { noted } = agreement;
  await home.transaction.ask(noteAgedBy(home.place, `${noted.process} ${noted.uptimeMs}`));
  return agreement;
}

async function contentsToAge(
  history: DatabaseHistory,
  { history: { daysMax } }: StoreSettings,
  nowMs: number,
): Promise<Set<string>> {
  const origins = new PresentOrigins(history.head, await history.origins());
  return agedContents(await history.versions(), origins, { daysMax, nowMs, isThere: () => true });
}

type Stamp = NonNullable<ReturnType<PresentFiles["stampOf"]>>;

/** The files of a home that were found before, for a plan. A file's stamp is its hash. */
class PresentHome implements PresentFiles {
  readonly #home: DatabaseHome;

  constructor(home: DatabaseHome) {
    this.#home = home;
  }

  readStamped(scope: string, path: string): { readonly content: Buffer; readonly stamp: Stamp } | null {
    const file = this.#at(scope, path);
    if (file === null) return null;
    if (file.content === null) throw unsafe(file.path, notAsRecorded);
    return { content: file.content, stamp: stampOf(file) };
  }

  stampOf(scope: string, path: string): Stamp | null {
    const file = this.#at(scope, path);
    return file && stampOf(file);
  }

  refuseTwin(): void {
    // Names that differ by case are different names.
  }

  nameOf(_scope: string, path: string): string {
    return path;
  }

  #at(scope: string, path: string): KnownFile | null {
    const found = this.#home.at({ scope, path });
    if (found === undefined) throw new RangeError("A plan needs a place that was not looked at");
    if (!isKnownFile(found)) return checkFree(found);
    checkBytes(path, found.bytes);
    return found;
  }
}

const stampOf = ({ sha256, bytes }: KnownFile): Stamp => ({ text: sha256, bytes });

/** Plans what is to be changed in some homes, and commits all of it in one transaction, or nothing. */
import { isUtf8 } from "node:buffer";

import type { Change } from "../../values/change-set.ts";
import type { EngineCommit, NewGrants } from "../engine.ts";
import { refuseFull } from "../grant-hints.ts";
import { hostScope, recordAt } from "../home.ts";
import type { Home, RecordKind } from "../home.ts";
import { StaleCall } from "../plan-changes.ts";
import type { StoreSettings } from "../store-settings.ts";
import { commitSurely } from "./commit-surely.ts";
import { DatabaseHome } from "./database-home.ts";
import type { HomeFacts } from "./database-home.ts";
import type { HomePlace } from "./home-place.ts";
import { planCommit, planLowered } from "./planned-commit.ts";
import type { PlannedChange } from "./planned-commit.ts";
import {
  areRecords,
  countGrants,
  findChange,
  homeVersion,
  keepHome,
  nameHome,
  refuseChanged,
  removeRecord,
  setGrants,
  writeRecord,
} from "./statements.ts";
import type { Statement } from "./statements.ts";
import type { Transaction } from "./transaction.ts";

/** Homes by their places, with the versions that they had when they were read. */
export type ReadVersions = ReadonlyMap<HomePlace, string>;

interface Held {
  readonly transaction: Transaction;
  readonly homeOf: (home: Home) => DatabaseHome;
  readonly onlyRead: ReadVersions;
  readonly settings: StoreSettings;
}

/** Returns whether there was anything to do. Its end gives the locks away. */
export async function commitHomes(
  { transaction, homeOf, onlyRead, settings }: Held,
  parts: readonly EngineCommit[],
): Promise<boolean> {
  await DatabaseHome.askFirst(parts.map(({ home }) => homeOf(home)).filter(({ isOld }) => isOld));
  const planned: PlannedPart[] = [];
  for (const part of parts) planned.push(await planPart(homeOf(part.home), settings, part));
  const statements = planned.flatMap((each) => each.statements);
  const guards = await guardsOf(transaction, onlyRead);
  if (guards.length + statements.length === 0) return false;
  await commitSurely(transaction, [...guards, ...statements], outcomeOf(planned));
  for (const { home, after } of planned) home.forget(after);
  return true;
}

/** Whether homes have their versions still. `keeps`: nobody changes them until the commit. */
export async function areStill(transaction: Transaction, versions: ReadVersions, keeps = false): Promise<boolean> {
  if (versions.size === 0 || transaction.isReadOnly) return true;
  const kept = keeps ? Array.from(versions.keys(), keepHome) : [];
  const rows = await transaction.ask(...kept, ...Array.from(versions.keys(), homeVersion));
  const found = rows.slice(kept.length).map(([row]) => String(row?.["version"] ?? ""));
  return Array.from(versions.values()).every((before, at) => before === found[at]);
}

/** Refuses a commit if a home has changed that was only read. The database's function for that knows stores alone. */
async function guardsOf(transaction: Transaction, onlyRead: ReadVersions): Promise<Statement[]> {
  const of = (kind: HomePlace["kind"]): ReadVersions =>
    new Map(Array.from(onlyRead).filter(([place]) => place.kind === kind));
  if (!(await areStill(transaction, of("user"), true))) throw new StaleCall();
  const stores = of("store");
  return stores.size > 0 ? [refuseChanged(stores)] : [];
}

interface PlannedPart {
  readonly home: DatabaseHome;
  readonly changes: readonly PlannedChange[];
  readonly records: readonly ChangedRecord[];
  readonly statements: readonly Statement[];
  /** What is known of the home after it. */
  readonly after: HomeFacts;
}

async function planPart(home: DatabaseHome, settings: StoreSettings, part: EngineCommit): Promise<PlannedPart> {
  const { place } = home;
  const records = recordsIn(part);
  const isNamed = records.some(({ text }) => text !== null);
  const before = isNamed ? { ...home.facts, version: "committed" } : home.facts;
  const files = part.changes.filter(({ scope }) => scope !== hostScope);
  const ofFiles = await planCommit(home, settings, { ...part, changes: files });
  const lowered = planLowered(place, part, ofFiles?.after ?? before);
  const changes = ofFiles === null ? lowered : [ofFiles, ...lowered];
  const { grants } = part;
  if (grants) await refuseFullGrantees(home, grants);
  const statements = [
    ...(grants ? [setGrants(place.tenant, grants)] : []),
    ...(isNamed ? [nameHome(place, part.home.id)] : []),
    ...records.map((each) => recordStatement(place, each)),
    ...changes.map(({ statement }) => statement),
  ];
  return { home, changes, records, statements, after: changes.at(-1)?.after ?? before };
}

/** By which a commit is found whose connection was lost; `null` for what can as well be made twice. */
function outcomeOf(planned: readonly PlannedPart[]): Statement | null {
  const [ofChange] = planned.flatMap(({ home: { place, facts }, changes }) =>
    changes.slice(0, 1).map(({ id }) => findChange(place, id, facts.commits)),
  );
  const [ofRecords] = planned.flatMap(({ home: { place }, records }) =>
    records.length > 0 ? areRecords(place.tenant, records) : [],
  );
  return ofChange ?? ofRecords ?? null;
}

async function refuseFullGrantees({ transaction, place }: DatabaseHome, { granted, nowMs }: NewGrants): Promise<void> {
  if (granted.length === 0) return;
  const asked = granted.map(({ grantee }) => countGrants(grantee, place.tenant, nowMs));
  for (const [row] of await transaction.ask(...asked)) refuseFull(Number(row?.["grants"] ?? 0));
}

/** What the host keeps about a user, which has no history. */
interface ChangedRecord {
  readonly kind: RecordKind;
  readonly name: string;
  /** `null` if it is removed. */
  readonly text: string | null;
}

function recordsIn({ home, changes }: EngineCommit): ChangedRecord[] {
  const records = new Map<string, ChangedRecord>();
  for (const change of changes.filter(({ scope }) => scope === hostScope)) {
    const { kind, path } = change;
    const at = recordAt(path);
    if (at === null || home.kind !== "user") throw new RangeError(`"${path}" is no record of a user`);
    if (kind !== "remove" && kind !== "write") throw new RangeError(`Cannot move the record "${path}"`);
    records.set(path, { ...at, text: kind === "write" ? textOf(change) : null });
  }
  return [...records.values()];
}

function textOf({ content, path }: Change & { readonly kind: "write" }): string {
  if (typeof content === "string") return content;
  if (!isUtf8(content)) throw new RangeError(`The record "${path}" is not text`);
  return Buffer.from(content).toString();
}

const recordStatement = ({ tenant }: HomePlace, { kind, name, text }: ChangedRecord): Statement =>
  text === null ? removeRecord(tenant, kind, name) : writeRecord(tenant, kind, name, text);

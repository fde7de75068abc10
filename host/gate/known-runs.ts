/**
 * How far the runs of a user are trusted: by their record beside the history, and by the history itself. The record can be
 * lost alone, or be put back to an older state. The history says which runs it must have.
 */
import { isAtLeast, lowestOf, originClasses } from "../../shared/origin.ts";
import type { OriginClass } from "../../shared/origin.ts";
import * as z from "../../shared/zod.ts";
import type { HostRecords } from "../store/host-records.ts";
import { parseJson } from "../store/parse-json.ts";
import { loweredRunsMax } from "../store/versions/lowered-runs.ts";
import type { LoweredRun } from "../store/versions/lowered-runs.ts";
import { lostTrust } from "../store/versions/version.ts";
import { ToolError } from "../values/tool-error.ts";
import { agreedTime } from "./agreed-time.ts";

/** For how many days after its trust fell a run is remembered. */
const daysMax = 90;
/** For so many days after that, a run can still be under way. */
const underWayDays = 1;
const dayMs = 24 * 3_600_000;

const name = "trust";
const schema = z.array(z.strictObject({ run: z.string(), trust: z.enum(originClasses), atMs: z.int() }));

/** No program can name it: a run's id is not empty. It stands for all runs. */
const everyRun = "";

export interface KnownRuns {
  /** Those of the record; `null` if it is lost: then nobody knows what any run has read. */
  readonly recorded: readonly LoweredRun[] | null;
  /** Those of the history. */
  readonly marked: readonly LoweredRun[];
  /** Why the record does not count as it is, as a clause about "it"; `null` if it does. */
  readonly fault: string | null;
}

/** A record that is missing is as good as one that cannot be read, if the history has runs of that time or is lost itself. */
export async function readRuns(records: HostRecords, nowMs: number): Promise<KnownRuns> {
  const recorded = await readRecord(records);
  const { runs: marked, isWhole } = await records.loweredRuns();
  if (recorded === null) return { recorded, marked, fault: "it cannot be read" };
  if (recorded.length === 0 && (!isWhole || marked.some((each) => isInForce(each, nowMs)))) {
    return { recorded: null, marked, fault: "it is missing" };
  }
  const lacking = lackingIn(recorded, marked, nowMs).length;
  return { recorded, marked, fault: lacking === 0 ? null : `it is older than the history, and lacks ${lacking} runs` };
}

/** The lowest trust that a run has read. */
export const trustOf = ({ recorded, marked }: KnownRuns, run: string, nowMs: number): OriginClass =>
  recorded === null ? lostTrust : trustAmong([...recorded, ...marked], run, nowMs);

/**
 * Whether the history says of a run what the record says. A record from before there were such versions has none of them:
 * each of its runs is noted when it is named next.
 */
export const isMarked = ({ recorded, marked }: KnownRuns, run: string, nowMs: number): boolean =>
  isAtLeast(trustAmong(recorded?.filter((each) => each.run === run) ?? [], run, nowMs), trustAmong(marked, run, nowMs));

/** Stages that the trust of a run has fallen: in the record, and as a version of the history. */
export async function lowerRun(
  records: HostRecords,
  { run, trust }: Omit<LoweredRun, "atMs">,
  nowMs: number,
): Promise<void> {
  await renewRuns(records, nowMs);
  const known = await readRuns(records, nowMs);
  const lowered = { run, trust: lowestOf(trust, trustOf(known, run, nowMs)), atMs: nowMs };
  const before = known.recorded ?? [];
  if (!isAtLeast(lowered.trust, trustAmong(before, run, nowMs))) {
    await writeRecord(records, withRun(before, lowered, await untilMs(records, before, nowMs)));
  }
  if (!isAtLeast(lowered.trust, trustAmong(known.marked, run, nowMs))) await records.noteLowered(lowered);
}

/** Begins a record that is lost anew: every run until now counts as one that has read untrusted text. */
export async function renewRuns(records: HostRecords, nowMs: number): Promise<void> {
  const { recorded, marked, fault } = await readRuns(records, nowMs);
  if (fault === null) return;
  if (recorded !== null) return await writeRecord(records, [...recorded, ...lackingIn(recorded, marked, nowMs)]);
  const all: LoweredRun = { run: everyRun, trust: lostTrust, atMs: nowMs };
  await writeRecord(records, [all]);
  await records.noteLowered(all);
}

/** The runs of the history that a record lacks. */
const lackingIn = (recorded: readonly LoweredRun[], marked: readonly LoweredRun[], nowMs: number): LoweredRun[] =>
  marked.filter((each) => isInForce(each, nowMs) && !isAtLeast(each.trust, trustAmong(recorded, each.run, nowMs)));

/** Until when every run counts as one that has read untrusted text, because a record was lost; `null` if none was. */
export function lostUntilMs({ recorded }: KnownRuns, nowMs: number): number | null {
  const all = recorded?.find(({ run, trust }) => run === everyRun && trust === lostTrust);
  const endsMs = (all?.atMs ?? 0) + daysMax * dayMs;
  // What stands for runs that were too many ends within a day.
  return endsMs - nowMs > underWayDays * dayMs ? endsMs : null;
}

/** `null` if it cannot be read. */
async function readRecord(records: HostRecords): Promise<LoweredRun[] | null> {
  try {
    const json = await records.read("runs", name);
    if (json === null) return [];
    const parsed = z.safeParse(schema, parseJson(json));
    return parsed.success ? parsed.data : null;
  } catch (error) {
    if (error instanceof ToolError && error.code === "STORAGE_UNSAFE") return null;
    throw error;
  }
}

const writeRecord = (records: HostRecords, runs: readonly LoweredRun[]): Promise<void> =>
  records.write("runs", name, JSON.stringify(runs));

const isInForce = ({ atMs }: LoweredRun, nowMs: number): boolean => atMs > nowMs - daysMax * dayMs;

const trustAmong = (runs: readonly LoweredRun[], run: string, nowMs: number): OriginClass =>
  lowestOf(
    "owner_edit",
    ...runs.flatMap((each) =>
      (each.run === run || each.run === everyRun) && isInForce(each, nowMs) ? [each.trust] : [],
    ),
  );

/** By which time runs are too old to be kept: only if two readings of the clock agree. */
const untilMs = (records: HostRecords, runs: readonly LoweredRun[], nowMs: number): Promise<number> =>
  agreedTime(records, nowMs, { isAsked: !runs.every((each) => isInForce(each, nowMs)) });

/**
 * The run comes last. What is too old by `agreedMs` is dropped, and if there are too many, those whose trust fell first.
 */
function withRun(runs: readonly LoweredRun[], lowered: LoweredRun, agreedMs: number): LoweredRun[] {
  const kept = runs.filter((each) => each.run !== lowered.run && isInForce(each, agreedMs));
  const named = [...kept.filter(({ run }) => run !== everyRun), lowered];
  const dropped = named.slice(0, -loweredRunsMax).filter(({ atMs }) => atMs > lowered.atMs - underWayDays * dayMs);
  const ofAll = [...kept.filter(({ run }) => run === everyRun), ...dropped.map(forAll)];
  return [...joined(ofAll), ...named.slice(-loweredRunsMax)];
}

/**
 * A run that is dropped while it can be under way must not be trusted again, however many other runs have read. So its
 * trust is that of every run, until it is surely over.
 */
const forAll = ({ trust, atMs }: LoweredRun): LoweredRun => ({
  run: everyRun,
  trust,
  atMs: atMs - (daysMax - underWayDays) * dayMs,
});

/** One record for several that stand for all runs. */
function joined(ofAll: readonly LoweredRun[]): LoweredRun[] {
  if (ofAll.length === 0) return [];
  const trust = lowestOf(...ofAll.map((each) => each.trust));
  return [{ run: everyRun, trust, atMs: Math.max(...ofAll.map(({ atMs }) => atMs)) }];
}

/**
 * How far the runs of a user are trusted: each as the least trusted entry that it has read. Their record beside the history can
 * be lost alone, or be put back to an older state; the history says which runs it must have.
 */
import type { ErrorCode } from "../../shared/errors.ts";
import { isAtLeast, lowestOf } from "../../shared/origin.ts";
import type { OriginClass } from "../../shared/origin.ts";
import * as z from "../../shared/zod.ts";
import type { HostRecords } from "../store/host-records.ts";
import { loweredRunsMax, loweredSchema } from "../store/versions/present-origins.ts";
import type { LoweredRun } from "../store/versions/present-origins.ts";
import { lostTrust } from "../store/versions/version.ts";
import type { UserId } from "../values/ids.ts";
import { ToolError } from "../values/tool-error.ts";
import { agreedTime, keptRecord } from "./kept-records.ts";

/** A run of a user. */
export interface UserRun {
  readonly userId: UserId;
  readonly run: string;
}

/** Entries of the user are as good as any text of the user, so a run that reads only such entries needs no record. */
export const lowersRun = (trust: OriginClass): boolean => !isAtLeast(trust, "direct_user");

/** Then no record can be written for long, and reads go on. */
const unwritable: ReadonlySet<ErrorCode> = new Set(["READ_ONLY", "STORAGE_FULL", "STORAGE_FAILED"]);

/** How many runs are remembered without a record. */
const unwrittenMax = 10_000;

export class RunTrust {
  readonly #clock: () => number;
  /** Of runs whose record could not be written. They count in this process. */
  readonly #unwritten = new Map<string, OriginClass>();

  constructor(clock: () => number) {
    this.#clock = clock;
  }

  /**
   * The lowest trust that a run has read so far. A record that cannot be read lowers every run, and is begun anew if it can
   * be written: its replacement does so only as long as runs are remembered.
   */
  async of(records: HostRecords, { userId, run }: UserRun): Promise<OriginClass> {
    const nowMs = this.#clock();
    const known = await readRuns(records, nowMs);
    const trust = trustOf(known, run, nowMs);
    try {
      if (known.fault !== null || !isMarked(known, run, nowMs)) await lowerRun(records, { run, trust }, nowMs);
      await records.commit();
    } catch (error) {
      // It stays as it is, and lowers every run.
      if (!(error instanceof ToolError)) throw error;
      records.drop();
    }
    return lowestOf(trust, this.#unwritten.get(keyOf({ userId, run })) ?? "owner_edit");
  }

  /** Whether the record of a run says already that it has read this. */
  async isLow(records: HostRecords, of: UserRun, trust: OriginClass): Promise<boolean> {
    // Another read can find that the record can be written again.
    if (this.#unwritten.has(keyOf(of))) return false;
    const nowMs = this.#clock();
    const known = await readRuns(records, nowMs);
    return isAtLeast(trust, trustOf(known, of.run, nowMs)) && isMarked(known, of.run, nowMs);
  }

  /** Commits, and with it that the run has read what is trusted like that: both, or neither. `null`: no run, or
   * it has read nothing. */
  async commitWith(
    records: HostRecords,
    of: UserRun | null,
    trust: OriginClass | null,
    commit: () => Promise<void> = () => records.commit(),
  ): Promise<void> {
    if (of === null || trust === null || !lowersRun(trust) || (await this.isLow(records, of, trust))) return commit();
    const unwritten = this.#unwritten.get(keyOf(of)) ?? trust;
    await lowerRun(records, { run: of.run, trust: lowestOf(trust, unwritten) }, this.#clock());
    await commit();
    this.#unwritten.delete(keyOf(of));
  }

  /**
   * Puts on record, by `commit`, that a run has read what is trusted like that. If it cannot be written, throws the error if the
   * medium can be written for others, so that the answer is withheld: not of a call that has committed (`isNeeded` is false).
   * Else it counts in this process.
   */
  async note(
    of: UserRun,
    trust: OriginClass,
    { isNeeded }: { readonly isNeeded: boolean },
    commit: () => Promise<void>,
  ): Promise<void> {
    try {
      await commit();
    } catch (error) {
      if (isNeeded && !(error instanceof ToolError && unwritable.has(error.tableCode))) throw error;
      const key = keyOf(of);
      const before = this.#unwritten.get(key) ?? trust;
      this.#unwritten.delete(key);
      this.#unwritten.set(key, lowestOf(trust, before));
      const [oldest] = this.#unwritten.keys();
      if (this.#unwritten.size > unwrittenMax && oldest !== undefined) this.#unwritten.delete(oldest);
    }
  }
}

const keyOf = ({ userId, run }: UserRun): string => `${userId}\n${run}`;

/** For how many days after its trust fell a run is remembered, and for how many it can still be under way. */
const [daysMax, underWayDays] = [90, 1];
const dayMs = 24 * 3_600_000;

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
  const kept = await keptRecord(records, ["runs", "trust"], z.array(loweredSchema));
  const { runs: marked, isWhole } = await records.loweredRuns();
  if (kept === undefined) return { recorded: null, marked, fault: "it cannot be read" };
  const recorded = kept ?? [];
  if (recorded.length === 0 && (!isWhole || marked.some((each) => isInForce(each, nowMs)))) {
    return { recorded: null, marked, fault: "it is missing" };
  }
  const lacking = lackingIn(recorded, marked, nowMs).length;
  return { recorded, marked, fault: lacking === 0 ? null : `it is older than the history, and lacks ${lacking} runs` };
}

/** Begins a record that is lost anew: every run until now counts as one that has read untrusted text. */
export async function renewRuns(records: HostRecords, nowMs: number): Promise<KnownRuns> {
  const known = await readRuns(records, nowMs);
  const { recorded, marked, fault } = known;
  if (fault === null) return known;
  const all: LoweredRun = { run: everyRun, trust: lostTrust, atMs: nowMs };
  await writeRuns(records, recorded === null ? [all] : [...recorded, ...lackingIn(recorded, marked, nowMs)]);
  if (recorded === null) await records.noteLowered(all);
  return await readRuns(records, nowMs);
}

/** Until when every run counts as one that has read untrusted text, because a record was lost; `null` if none was. */
export function lostUntilMs({ recorded }: KnownRuns, nowMs: number): number | null {
  const all = recorded?.find(({ run, trust }) => run === everyRun && trust === lostTrust);
  const endsMs = (all?.atMs ?? 0) + daysMax * dayMs;
  // What stands for runs that were too many ends within a day.
  return endsMs - nowMs > underWayDays * dayMs ? endsMs : null;
}

/** The lowest trust that a run has read. */
const trustOf = ({ recorded, marked }: KnownRuns, run: string, nowMs: number): OriginClass =>
  recorded === null ? lostTrust : lowestOf(trustAmong(recorded, run, nowMs), trustAmong(marked, run, nowMs));

/**
 * Whether the history says of a run what the record says. A record from before there were such versions has none of them:
 * each of its runs is noted when it is named next.
 */
const isMarked = ({ recorded, marked }: KnownRuns, run: string, nowMs: number): boolean =>
  isAtLeast(trustAmong(recorded?.filter((each) => each.run === run) ?? [], run, nowMs), trustAmong(marked, run, nowMs));

/** Stages that the trust of a run has fallen: in the record, and as a version of the history. */
async function lowerRun(records: HostRecords, { run, trust }: Omit<LoweredRun, "atMs">, nowMs: number): Promise<void> {
  const known = await renewRuns(records, nowMs);
  const lowered = { run, trust: lowestOf(trust, trustOf(known, run, nowMs)), atMs: nowMs };
  const before = known.recorded ?? [];
  if (!isAtLeast(lowered.trust, trustAmong(before, run, nowMs))) {
    const isAsked = !before.every((each) => isInForce(each, nowMs));
    await writeRuns(records, withRun(before, lowered, await agreedTime(records, nowMs, { isAsked })));
  }
  if (!isAtLeast(lowered.trust, trustAmong(known.marked, run, nowMs))) await records.noteLowered(lowered);
}

const writeRuns = (records: HostRecords, runs: readonly LoweredRun[]): Promise<void> =>
  records.write("runs", "trust", JSON.stringify(runs));

/** The runs of the history that a record lacks. Each can have a thousand, so no list is searched for each of the other. */
function lackingIn(recorded: readonly LoweredRun[], marked: readonly LoweredRun[], nowMs: number): LoweredRun[] {
  const known = new Map<string, LoweredRun[]>();
  for (const each of recorded) known.set(each.run, [...(known.get(each.run) ?? []), each]);
  const ofAll = known.get(everyRun) ?? [];
  const lacks = ({ run, trust }: LoweredRun): boolean =>
    !isAtLeast(trust, trustAmong([...(known.get(run) ?? []), ...ofAll], run, nowMs));
  return marked.filter((each) => isInForce(each, nowMs) && lacks(each));
}

const isInForce = ({ atMs }: LoweredRun, nowMs: number): boolean => atMs > nowMs - daysMax * dayMs;

function trustAmong(runs: readonly LoweredRun[], run: string, nowMs: number): OriginClass {
  const counted = runs.filter((each) => (each.run === run || each.run === everyRun) && isInForce(each, nowMs));
  return lowestOf("owner_edit", ...counted.map(({ trust }) => trust));
}

/**
 * The run comes last. What is too old by `agreedMs` is dropped, and if there are too many, those whose trust fell first. One
 * that is dropped while it can be under way must not be trusted again, however many other runs have read: its trust is that of
 * every run, until it is surely over.
 */
function withRun(runs: readonly LoweredRun[], lowered: LoweredRun, agreedMs: number): LoweredRun[] {
  const kept = runs.filter((each) => each.run !== lowered.run && isInForce(each, agreedMs));
  const named = [...kept.filter(({ run }) => run !== everyRun), lowered];
  const ofAll = kept.filter(({ run }) => run === everyRun);
  for (const { trust, atMs } of named.slice(0, -loweredRunsMax)) {
    const isUnderWay = atMs > lowered.atMs - underWayDays * dayMs;
    if (isUnderWay) ofAll.push({ run: everyRun, trust, atMs: atMs - (daysMax - underWayDays) * dayMs });
  }
  const last = named.slice(-loweredRunsMax);
  if (ofAll.length === 0) return last;
  const trust = lowestOf(...ofAll.map((each) => each.trust));
  return [{ run: everyRun, trust, atMs: Math.max(...ofAll.map(({ atMs }) => atMs)) }, ...last];
}

/** How far the runs of users are trusted: each as the least trusted entry that it has read. */
import type { ErrorCode } from "../../shared/errors.ts";
import { isAtLeast, lowestOf, originClasses } from "../../shared/origin.ts";
import type { OriginClass } from "../../shared/origin.ts";
import * as z from "../../shared/zod.ts";
import type { HeldRecords } from "../store/held-records.ts";
import { parseJson } from "../store/parse-json.ts";
import type { HoldOptions, Store } from "../store/store.ts";
import { ToolError } from "../values/tool-error.ts";
import type { UserId } from "../values/user-id.ts";

/** How many runs of a user are remembered, and for how many days after their trust fell. */
const [runsMax, daysMax] = [1_000, 90];
/** For so many days after that, a run can still be under way. */
const underWayDays = 1;
const dayMs = 24 * 3_600_000;

const name = "trust";

const schema = z.array(z.strictObject({ run: z.string(), trust: z.enum(originClasses), atMs: z.int() }));

type Runs = z.infer<typeof schema>;
type Waiting = Pick<HoldOptions, "until" | "signal">;

interface Lowering extends Waiting {
  /** Whether the answer is withheld if the record cannot be written: not of a call that has committed. */
  readonly isNeeded: boolean;
}

/** Entries of the user are as good as any text of the user, so a run that reads only such entries needs no record. */
const isUsers = (trust: OriginClass): boolean => isAtLeast(trust, "direct_user");

/** Then no record can be written for long, and reads go on. */
const unwritable: ReadonlySet<ErrorCode> = new Set(["READ_ONLY", "STORAGE_FULL", "STORAGE_FAILED"]);

/** How many runs are remembered without a record. */
const unwrittenMax = 10_000;

export class RunTrust {
  readonly #store: Store;
  readonly #clock: () => number;
  /** Of runs whose record could not be written. They count in this process. */
  readonly #unwritten = new Map<string, OriginClass>();

  constructor(store: Store, clock: () => number) {
    this.#store = store;
    this.#clock = clock;
  }

  /** The lowest trust that a run has read so far. */
  async of(userId: UserId, run: string, waiting: Waiting): Promise<OriginClass> {
    const runs = await this.#store.holdRecords(userId, { ...waiting, writes: false }, read);
    if (runs === null) await this.#replace(userId, waiting);
    return lowestOf(trustIn(runs, run, this.#clock), this.#unwritten.get(keyOf(userId, run)) ?? "owner_edit");
  }

  /** A run has read entries. Durable before its model gets the answer, if the medium can be written. */
  async lower(userId: UserId, run: string, trust: OriginClass, { isNeeded, ...waiting }: Lowering): Promise<void> {
    if (isUsers(trust)) return;
    const key = keyOf(userId, run);
    const unwritten = this.#unwritten.get(key);
    try {
      // Another read can find that the record can be written again.
      if (unwritten === undefined && isAtLeast(trust, await this.of(userId, run, waiting))) return;
      await this.#store.holdRecords(userId, { ...waiting, writes: true }, async (records) => {
        const nowMs = this.#clock();
        const runs = await read(records);
        const lowered = {
          run,
          trust: lowestOf(
            trust,
            unwritten ?? trust,
            trustIn(runs, run, () => nowMs),
          ),
          atMs: nowMs,
        };
        await records.write("runs", name, JSON.stringify(withRun(runs ?? unreadable(nowMs), lowered)));
      });
      this.#unwritten.delete(key);
    } catch (error) {
      const isKept = !isNeeded || (error instanceof ToolError && unwritable.has(error.tableCode));
      if (!isKept) throw error;
      this.#keep(key, trust);
    }
  }

  /** A record that cannot be read lowers every run. Its replacement does so only as long as runs are remembered. */
  async #replace(userId: UserId, waiting: Waiting): Promise<void> {
    try {
      await this.#store.holdRecords(userId, { ...waiting, writes: true }, (records) =>
        records.write("runs", name, JSON.stringify(unreadable(this.#clock()))),
      );
    } catch (error) {
      // It stays as it is, and lowers every run.
      if (!(error instanceof ToolError)) throw error;
    }
  }

  #keep(key: string, trust: OriginClass): void {
    const before = this.#unwritten.get(key) ?? trust;
    this.#unwritten.delete(key);
    this.#unwritten.set(key, lowestOf(trust, before));
    const [oldest] = this.#unwritten.keys();
    if (this.#unwritten.size > unwrittenMax && oldest !== undefined) this.#unwritten.delete(oldest);
  }
}

/** `null` if the record cannot be read. */
async function read(records: HeldRecords): Promise<Runs | null> {
  try {
    return decode(await records.read("runs", name));
  } catch (error) {
    if (error instanceof ToolError && error.code === "STORAGE_UNSAFE") return null;
    throw error;
  }
}

const keyOf = (userId: UserId, run: string): string => `${userId}\n${run}`;

/** No program can name it: a run's id is not empty. It stands for all runs. */
const everyRun = "";

/** What runs have read is not known any more. */
const unreadable = (atMs: number): Runs => [{ run: everyRun, trust: "untrusted_document", atMs }];

/** `null` if the record cannot be read. */
function decode(json: string | null): Runs | null {
  if (json === null) return [];
  const parsed = z.safeParse(schema, parseJson(json));
  return parsed.success ? parsed.data : null;
}

function trustIn(runs: Runs | null, run: string, clock: () => number): OriginClass {
  if (runs === null) return "untrusted_document";
  const isOf = (each: Runs[number]): boolean => each.run === run || each.run === everyRun;
  const found = runs.filter(isOf);
  if (found.length === 0) return "owner_edit";
  const sinceMs = clock() - daysMax * dayMs;
  const present = found.filter(({ atMs }) => atMs > sinceMs);
  return lowestOf(...present.map(({ trust }) => trust));
}

/** The run comes last. What is too old is dropped, and if there are too many, those whose trust fell first. */
function withRun(runs: Runs, lowered: Runs[number]): Runs {
  const isSince = ({ atMs }: Runs[number], days: number): boolean => atMs > lowered.atMs - days * dayMs;
  const kept = runs.filter((each) => each.run !== lowered.run && isSince(each, daysMax));
  const named = [...kept.filter(({ run }) => run !== everyRun), lowered];
  const dropped = named.slice(0, -runsMax).filter((each) => isSince(each, underWayDays));
  const ofAll = [...kept.filter(({ run }) => run === everyRun), ...dropped.map(forAll)];
  return [...joined(ofAll), ...named.slice(-runsMax)];
}

/**
 * A run that is dropped while it can be under way must not be trusted again, however many other runs have read. So its
 * trust is that of every run, until it is surely over.
 */
const forAll = ({ trust, atMs }: Runs[number]): Runs[number] => ({
  run: everyRun,
  trust,
  atMs: atMs - (daysMax - underWayDays) * dayMs,
});

/** One record for several that stand for all runs. */
function joined(ofAll: Runs): Runs {
  if (ofAll.length === 0) return [];
  const trust = lowestOf(...ofAll.map((each) => each.trust));
  return [{ run: everyRun, trust, atMs: Math.max(...ofAll.map(({ atMs }) => atMs)) }];
}

/** How far the runs of users are trusted: each as the least trusted entry that it has read. */
import { isAtLeast, lowestOf, originClasses } from "../../shared/origin.ts";
import type { OriginClass } from "../../shared/origin.ts";
import * as z from "../../shared/zod.ts";
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

/** Entries of the user are as good as any text of the user, so a run that reads only such entries needs no record. */
const isUsers = (trust: OriginClass): boolean => isAtLeast(trust, "direct_user");

export class RunTrust {
  readonly #store: Store;
  readonly #clock: () => number;
  /** For a runtime that may write nothing. */
  readonly #unwritten = new Map<string, OriginClass>();

  constructor(store: Store, clock: () => number) {
    this.#store = store;
    this.#clock = clock;
  }

  /** The lowest trust that a run has read so far. */
  async of(userId: UserId, run: string, waiting: Waiting): Promise<OriginClass> {
    const runs = await this.#store.holdRecords(userId, { ...waiting, writes: false }, async (records) =>
      decode(await records.read("runs", name)),
    );
    const unwritten = this.#unwritten.get(keyOf(userId, run)) ?? "owner_edit";
    return lowestOf(trustIn(runs, run), unwritten);
  }

  /** A run has read entries. Durable before its model gets the answer. */
  async lower(userId: UserId, run: string, trust: OriginClass, waiting: Waiting): Promise<void> {
    if (isUsers(trust) || isAtLeast(trust, await this.of(userId, run, waiting))) return;
    try {
      await this.#store.holdRecords(userId, { ...waiting, writes: true }, async (records) => {
        const runs = decode(await records.read("runs", name));
        const lowered = { run, trust: lowestOf(trust, trustIn(runs, run)), atMs: this.#clock() };
        await records.write("runs", name, JSON.stringify(withRun(runs ?? unreadable(lowered.atMs), lowered)));
      });
    } catch (error) {
      if (!(error instanceof ToolError) || error.code !== "READ_ONLY") throw error;
      this.#unwritten.set(keyOf(userId, run), lowestOf(trust, this.#unwritten.get(keyOf(userId, run)) ?? trust));
    }
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
  try {
    const parsed = z.safeParse(schema, JSON.parse(json));
    return parsed.success ? parsed.data : null;
  } catch {
    return null;
  }
}

function trustIn(runs: Runs | null, run: string): OriginClass {
  if (runs === null) return "untrusted_document";
  const found = runs.filter((each) => each.run === run || each.run === everyRun);
  return lowestOf(...found.map(({ trust }) => trust));
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

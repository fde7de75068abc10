/**
 * What plugins have answered last to an owner's look at all entries, kept while nothing has changed that it was made from: of
 * 1,000 entries, to make it again takes 160 ms of processor time, and to see that nothing has changed 10 ms.
 */
import { hash } from "node:crypto";

import type { HeldHome } from "../store/held-homes.ts";
import type { UserId } from "../values/ids.ts";

/** Of all users together: each has the entries of one family, at most 1,000 of them. */
const answersMax = 32;

/** A file that was changed so lately can be changed again without another time of change, such as on a disk that counts in steps. */
const settledMs = 2_000;

interface Kept {
  readonly stamp: string;
  readonly answer: unknown;
}

export class LastAnswers {
  /** The one that was used last comes last. */
  readonly #kept = new Map<string, Kept>();

  /** `stamp`: what the answer is made from, looked at before it is made; `null`: it is made each time. */
  async of<Answer>(
    userId: UserId,
    question: readonly unknown[],
    stamp: string | null,
    make: () => Promise<Answer>,
  ): Promise<Answer> {
    // A question can be long, and it can be words that nobody else is to read.
    const key = `${userId}\n${hash("sha256", JSON.stringify(question))}`;
    const last = this.#kept.get(key);
    this.#kept.delete(key);
    if (stamp === null) return await make();
    const kept = last?.stamp === stamp ? last : { stamp, answer: await make() };
    this.#kept.set(key, kept);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > answersMax && oldest !== undefined) this.#kept.delete(oldest);
    // What is kept is nobody else's to change.
    return structuredClone(kept.answer as Answer);
  }

  forget(userId: UserId): void {
    for (const key of this.#kept.keys()) if (key.startsWith(`${userId}\n`)) this.#kept.delete(key);
  }
}

/** What tells whether the files of a scope, or what is known of them, have changed; `null` while that cannot be told for sure. */
export async function stampOf(held: HeldHome, scope: string, nowMs: number): Promise<string | null> {
  const files = await held.list(scope, "");
  const settledUs = (nowMs - settledMs) * 1_000;
  if (!files.every(({ changedUs }) => typeof changedUs === "number" && changedUs < settledUs)) return null;
  return hash("sha256", JSON.stringify([held.history.state(), files]));
}

import { AsyncLocalStorage } from "node:async_hooks";

import type { UserId } from "../values/user-id.ts";

/** A question to the program about a call of a user. */
interface Question {
  readonly userId: UserId;
  isOpen: boolean;
  /** The question to whose answer the call belongs; `null` if it belongs to none. */
  readonly outer: Question | null;
}

/** The embedding program while it is asked. It can make calls before it answers: where they come from tells them apart. */
export class AskedProgram {
  readonly #asked = new AsyncLocalStorage<Question>();

  /** Whether what runs now belongs to the program's answer to a question about this user. */
  isAskedAbout(userId: UserId): boolean {
    for (let question = this.#question; question !== null; question = openOne(question.outer)) {
      if (question.userId === userId) return true;
    }
    return false;
  }

  /** Asks about a call of a user. */
  async ask<Answer>(userId: UserId, ask: () => Promise<Answer>): Promise<Answer> {
    const question: Question = { userId, isOpen: true, outer: this.#question };
    try {
      return await this.#asked.run(question, ask);
    } finally {
      question.isOpen = false;
    }
  }

  get #question(): Question | null {
    return openOne(this.#asked.getStore() ?? null);
  }
}

/** What the program goes on with after its answer no longer belongs to the question. */
function openOne(question: Question | null): Question | null {
  let open = question;
  while (open !== null && !open.isOpen) open = open.outer;
  return open;
}

/** A middleware of the AI SDK that notes what a model has seen when it calls a tool. */
import type { OriginClass } from "../origin.ts";
import { SeenTexts } from "./exposure.ts";

/** For `middleware` of `wrapLanguageModel`, and for the option `middleware` of `memcellTools` and `claudeMemory`. */
export interface ExposureMiddleware {
  readonly specificationVersion: "v3";
  readonly wrapGenerate: <Result extends { readonly content: readonly unknown[] }>(of: {
    readonly doGenerate: () => PromiseLike<Result>;
    readonly params: ModelInput;
  }) => Promise<Result>;
  readonly wrapStream: <Result extends { readonly stream: ReadableStream }>(of: {
    readonly doStream: () => PromiseLike<Result>;
    readonly params: ModelInput;
  }) => Promise<Result>;
  /** What the model had seen in its answers with such a call, when they have ended. None: the call is not known. */
  seenBefore(toolCallId: string): Promise<readonly Seen[]>;
}

interface Seen {
  classes(ownTools: ReadonlySet<string>): ReadonlySet<OriginClass>;
}

interface ModelInput {
  readonly prompt: unknown;
}

/**
 * Returns a middleware that sees all that the model is sent and answers, also what the AI SDK does not tell a tool: the
 * results of a provider's own tools in the same step, and the messages that `prepareStep` has changed. So a write after a
 * web search of the provider waits for the user's approval.
 *
 * With it, a call of a model that it is not around counts as exposed to anything. Of several middlewares it has to be the
 * last: others can change what the model is sent. One can serve any number of users and models at once. If a provider
 * gives the same id to several calls, each counts as exposed to what any of them was: then make one for each run.
 *
 * @example
 * const middleware = exposureMiddleware();
 * const { text } = await generateText({
 *   model: wrapLanguageModel({ model, middleware }),
 *   prompt,
 *   tools: { web_search, ...memcellTools(runtime, { userId: "alice" }, { middleware }) },
 * });
 */
export function exposureMiddleware(): ExposureMiddleware {
  const answers = new RecentAnswers();
  return {
    specificationVersion: "v3",
    async wrapGenerate({ doGenerate, params: { prompt } }) {
      const result = await doGenerate();
      const answer = answers.start(prompt);
      for (const part of result.content) answer.add(part);
      answer.end();
      return result;
    },
    async wrapStream({ doStream, params: { prompt } }) {
      const result = await doStream();
      return { ...result, stream: ReadableStream.from(noted(result.stream, answers.start(prompt))) };
    },
    seenBefore: (toolCallId) => answers.seenBefore(toolCallId),
  };
}

async function* noted(stream: ReadableStream, answer: Answer): AsyncGenerator {
  try {
    for await (const part of stream as AsyncIterable<unknown>) {
      answer.add(part);
      yield part;
    }
  } finally {
    answer.end();
  }
}

/** Calls are executed at once, or after an approval: then the messages have the whole answer. */
const answersMax = 1_000;

class RecentAnswers {
  readonly #answers: Answer[] = [];

  start(prompt: unknown): Answer {
    const answer = new Answer(prompt);
    this.#answers.push(answer);
    if (this.#answers.length > answersMax) this.#answers.shift();
    return answer;
  }

  /** Waits for the answer that is being executed, which is the last: an earlier one can have been given up. */
  async seenBefore(toolCallId: string): Promise<readonly SeenTexts[]> {
    const found = this.#answers.filter((answer) => answer.hasCalled(toolCallId));
    await found.at(-1)?.whole;
    return found.map(({ seen }) => seen);
  }
}

/** What a model has been sent, and its answer so far. */
class Answer {
  readonly seen: SeenTexts;
  readonly #calls = new Set<string>();
  /** Resolves when the answer has ended, however it does. */
  readonly whole: Promise<void>;
  end: () => void = () => {};

  constructor(prompt: unknown) {
    this.seen = new SeenTexts().addMessages(prompt);
    this.whole = new Promise((resolve) => {
      this.end = resolve;
    });
  }

  hasCalled(toolCallId: string): boolean {
    return this.#calls.has(toolCallId);
  }

  add(part: unknown): void {
    this.seen.addOfAnswer(part);
    const { type, toolCallId } = (part ?? {}) as { readonly type?: unknown; readonly toolCallId?: unknown };
    if (type === "tool-call") this.#calls.add(String(toolCallId));
    // What executes the calls can hold the stream here.
    if (type === "finish") this.end();
  }
}

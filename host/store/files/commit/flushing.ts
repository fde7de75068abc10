import { giveTurn } from "../../../values/turns.ts";
import { settleAll } from "../scope-folders.ts";

interface Flushable {
  flush(): Promise<void>;
  flushNow(): void;
}

/** What has to be durable before work goes on. `failed` is called at once if one of them fails. */
interface Flush {
  readonly all: readonly Flushable[];
  readonly failed?: () => void;
}

/** Work in pieces, as `Pieces`. Before what it yields is durable, it does not go on. */
export type Flushing<Result> = Generator<Flush | void, Result, void>;

/** Does work, and others have turns while it flushes. */
export async function inFlushes<Result>(work: Flushing<Result>): Promise<Result> {
  let step = work.next();
  while (!step.done) {
    step = await flushAll(step.value).then(
      () => work.next(),
      (error: unknown) => work.throw(error),
    );
  }
  return step.value;
}

async function flushAll(asked: Flush | void): Promise<void> {
  if (!asked) return await giveTurn();
  const { all, failed } = asked;
  const flushes = all.map((each) =>
    each.flush().catch((error: unknown) => {
      failed?.();
      throw error;
    }),
  );
  await settleAll(flushes);
}

/** Does the same at once: at the end of the process. */
export function inFlushesNow<Result>(work: Flushing<Result>): Result {
  let step = work.next();
  while (!step.done) {
    const { all, failed } = step.value ?? { all: [] };
    let failure: { readonly error: unknown } | null = null;
    try {
      for (const each of all) each.flushNow();
    } catch (error) {
      failed?.();
      failure = { error };
    }
    step = failure === null ? work.next() : work.throw(failure.error);
  }
  return step.value;
}

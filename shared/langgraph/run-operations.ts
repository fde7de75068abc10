/** Sends operations to the tool `stores/StoreBatch`, and asks for what one answer could not hold. */
import { isChange, resultOf } from "./store-operations.ts";
import type { StoreOperation, StoreResult } from "./store-operations.ts";

/** What `memcellStore` needs of a runtime. memcell's `Runtime` has it. */
export interface StoreRuntime<Context> {
  families(): readonly { readonly name: string }[];
  callAsHost(tool: string, input: unknown, ctx: Context): Promise<CallResult>;
}

type CallResult =
  | { readonly ok: true; readonly data?: unknown }
  | { readonly ok: false; readonly error: { readonly code: string; readonly message: string } };

/** Sends operations of one user as one batch. */
export type Send = (operations: readonly StoreOperation[]) => Promise<readonly StoreResult[]>;

export function sendWith<Context>(runtime: StoreRuntime<Context>, ctx: Context): Send {
  return async (operations) => {
    const result = await runtime.callAsHost("stores/StoreBatch", { operations }, ctx);
    if (!result.ok) throw new Error(result.error.message, { cause: result.error });
    return (result.data as { readonly results: readonly StoreResult[] }).results;
  };
}

/**
 * Returns the results in the order of the operations. All reads see what was there before the changes. The changes are
 * one change set, unless they are more than one call takes: 500, or 512 KiB.
 */
export async function runOperations(send: Send, operations: readonly StoreOperation[]): Promise<unknown[]> {
  const batches = batchesOf(operations);
  const whole = batches.length === 1 ? await orTooLarge(send(operations)) : null;
  const pending = operations.map((operation) => new Pending(operation));
  if (whole !== null) for (const [at, result] of whole.entries()) pending[at]?.take(result);
  await readRest(
    send,
    pending.filter(({ isDone, operation }) => !isDone && !isChange(operation)),
  );
  if (whole === null) for (const batch of batchesOf(operations.filter(isChange))) await send(batch);
  return pending.map(({ operation, parts }) => resultOf(operation, parts));
}

/** `null`: the reads do not fit into one answer, so nothing has changed. */
async function orTooLarge(sent: ReturnType<Send>): Promise<readonly StoreResult[] | null> {
  try {
    return await sent;
  } catch (error) {
    const { code } = ((error as Error).cause ?? {}) as { readonly code?: string };
    if (code === "BATCH_TOO_LARGE") return null;
    throw error;
  }
}

async function readRest(send: Send, reads: readonly Pending[]): Promise<void> {
  let rest = reads;
  while (rest.length > 0) {
    const [batch = []] = batchesOf(rest.map(({ operation }) => operation));
    const asked = rest.slice(0, batch.length);
    const before = asked.map(({ operation }) => operation);
    const results = await send(batch);
    for (const [at, result] of results.entries()) asked[at]?.take(result);
    rest = rest.filter(({ isDone }) => !isDone);
    if (asked.every(({ isDone, operation }, at) => !isDone && operation === before[at]))
      throw new Error("The store has too much to read for this operation: name a namespace");
  }
}

/** An operation, and the parts of its result so far. */
class Pending {
  operation: StoreOperation;
  readonly parts: StoreResult[] = [];
  isDone = false;

  constructor(operation: StoreOperation) {
    this.operation = operation;
  }

  take(result: StoreResult): void {
    if (result.left) return;
    this.parts.push(result);
    this.isDone = result.next === undefined;
    if (result.next === undefined) return;
    const found = (result.items ?? result.namespaces ?? []).length;
    this.operation = { ...this.operation, ...result.next, limit: Number(this.operation["limit"]) - found };
  }
}

const operationsMax = 500;
/** Below the 512 KiB of a call's input: what stands around the operations takes a few bytes. */
const bytesMax = 500_000;

/** At least one, in their order. */
function batchesOf(operations: readonly StoreOperation[]): StoreOperation[][] {
  const batches: StoreOperation[][] = [];
  let bytes = Infinity;
  for (const operation of operations) {
    const more = new TextEncoder().encode(JSON.stringify(operation)).length + 1;
    const last = batches.at(-1);
    if (last === undefined || last.length === operationsMax || bytes + more > bytesMax) {
      batches.push([operation]);
      bytes = more;
    } else {
      last.push(operation);
      bytes += more;
    }
  }
  return batches;
}

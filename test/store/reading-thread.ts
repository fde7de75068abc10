/** A thread that reads as a guest's thread does: it opens readers from the store's location, one for each order. */
import { MessageChannel, parentPort, workerData } from "node:worker_threads";

import { openReaders } from "../stage/store.ts";
import type { Handed, ReadBridge, StoreLocation, UserId, UserReader } from "../stage/store.ts";

/** Questions to one reader, in order. */
export type Question =
  | readonly ["read" | "sizeOf", scope: string, path: string]
  | readonly ["list", scope: string, prefix: string]
  | readonly ["scopeSize", scope: string]
  | readonly ["seen"];

export interface Order {
  /** `null` reads the shared stores. */
  readonly userId: string | null;
  readonly questions: readonly Question[];
  readonly handed?: Handed | null;
  /** Starts again after the last question, and never ends. */
  readonly isEndless?: boolean;
}

/** An answer, or the code of the error. */
export type Answer = { readonly value: unknown } | { readonly code: string };

function connect(): ReadBridge {
  const { port1: own, port2: port } = new MessageChannel();
  const signal = new SharedArrayBuffer(4);
  parentPort?.postMessage({ bridgeTo: { port, signal } }, [port]);
  return { port: own, signal };
}

const readers = openReaders(workerData as StoreLocation, connect);

parentPort?.on("message", ({ userId, questions, handed, isEndless = false }: Order) => {
  if (isEndless) parentPort?.postMessage({ answers: [] }, []);
  for (;;) {
    using reader = readers.open(userId as UserId | null, [], { handed });
    const answers = questions.map((question) => answerTo(reader, question));
    if (isEndless) continue;
    parentPort?.postMessage({ answers }, []);
    return;
  }
});

function answerTo(reader: UserReader, question: Question): Answer {
  try {
    return { value: valueOf(reader, question) };
  } catch (error) {
    return { code: String((error as { code?: unknown }).code ?? error) };
  }
}

function valueOf(reader: UserReader, [asked, scope = "", path = ""]: Question): unknown {
  if (asked === "seen") return reader.seen;
  if (asked === "scopeSize") return reader.scopeSize(scope);
  return reader[asked](scope, path);
}

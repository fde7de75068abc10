/**
 * A scriptable plugin. Its input is a list of steps; each adds one item to the list that is its answer. A step that
 * ends the call (`output`, `fail`, `throw`, `spin`, `recurse`, `allocate`) is the last.
 */
import { findMarks, leaveMarks } from "./marks.ts";

type Step =
  /** Calls a capability with any text as the request and adds the reply's text. */
  | { readonly request: string; readonly of: string }
  /** Calls a capability with a JSON request, or with text for invalid JSON, and adds the reply as a parsed value. */
  | { readonly ask: unknown; readonly of: string }
  /** Calls a capability with a number as handle. */
  | { readonly handle: number; readonly of: string }
  /** Adds the type of a global name's value. */
  | { readonly typeOf: string }
  /** Leaves a text in every place where JavaScript keeps state, or looks for it. */
  | { readonly plant: string }
  | { readonly look: true }
  /** Makes a function from text, with the constructor that every function has. */
  | { readonly compile: string }
  | { readonly dateNow: true }
  | { readonly config: string }
  | { readonly encode: string }
  /** Stages a file with this many characters, more than an input can contain. */
  | { readonly writeLarge: { readonly path: string; readonly characters: number } }
  | { readonly log: string; readonly times: number }
  | { readonly output: string }
  | { readonly fail: string }
  | { readonly outputLarge: number }
  | { readonly failLarge: number }
  | { readonly spin: true }
  | { readonly turns: number }
  /** A regular expression that runs for ever. */
  | { readonly backtrack: true }
  /** The same where a `catch`, a `finally` or a promise would swallow the error that ends it. */
  | { readonly spinBehind: "catch" | "finally" | "promise" | "iterator" }
  | { readonly recurse: true }
  | { readonly allocate: true }
  /** Uses all memory and goes on when there is no more: in small pieces, or behind an error of its own. */
  | { readonly allocateBehind: "catch" | "cause" };

function play(): number {
  const seen: unknown[] = [];
  for (const step of JSON.parse(Host.inputString()) as Step[]) {
    const end = perform(step, seen);
    if (end !== undefined) return end;
  }
  Host.outputString(JSON.stringify({ ok: true, message: "Done", data: seen }));
  return 0;
}

function perform(step: Step, seen: unknown[]): number | undefined {
  if ("request" in step) seen.push(callCapability(step.of, Memory.fromString(step.request).offset));
  if ("ask" in step) seen.push(ask(step.of, step.ask));
  if ("handle" in step) seen.push(callCapability(step.of, step.handle));
  if ("typeOf" in step) seen.push(typeof resolve(step.typeOf));
  if ("plant" in step) leaveMarks(step.plant);
  if ("look" in step) seen.push(findMarks());
  if ("compile" in step) seen.push(compile(step.compile));
  if ("dateNow" in step) seen.push(Date.now());
  if ("config" in step) seen.push(Config.get(step.config));
  if ("encode" in step) seen.push(encode(step.encode));
  if ("writeLarge" in step) seen.push(writeLarge(step.writeLarge.path, step.writeLarge.characters));
  if ("log" in step) for (let count = 0; count < step.times; count++) console.log(step.log);
  if ("output" in step) {
    Host.outputString(step.output);
    return 0;
  }
  if ("fail" in step) throw new Error(step.fail);
  if ("outputLarge" in step) {
    Host.outputString(JSON.stringify({ ok: true, message: "", data: "x".repeat(step.outputLarge) }));
    return 0;
  }
  if ("failLarge" in step) {
    throw new Error(
      JSON.stringify({ ok: false, error: { code: "ENTRY_NOT_FOUND", message: "x".repeat(step.failLarge) } }),
    );
  }
  if ("spin" in step) for (;;);
  if ("turns" in step) for (let turn = 0; turn < step.turns; turn++);
  if ("backtrack" in step) seen.push(/^(a+)+$/.test("a".repeat(40) + "b"));
  if ("recurse" in step) seen.push(recurse(0));
  if ("spinBehind" in step) seen.push(spinBehind[step.spinBehind]());
  if ("allocate" in step) seen.push(allocate());
  if ("allocateBehind" in step) seen.push(allocateBehind[step.allocateBehind]());
  return undefined;
}

/**
 * Hosts write replies with different white space. The parsed value is the same everywhere, without the times that a
 * listing of version 1 can have.
 */
function ask(name: string, request: unknown): unknown {
  const text = typeof request === "string" ? request : JSON.stringify(request);
  const reply = callCapability(name, Memory.fromString(text).offset);
  if (name !== "store_list" || text.includes('"store:')) return JSON.parse(reply);
  return JSON.parse(reply, (key, value: unknown) => (key === "changedUs" || key === "leftOut" ? undefined : value));
}

function callCapability(name: string, request: PTR): string {
  const capability = (Host.getFunctions() as unknown as Record<string, (request: PTR) => PTR>)[name];
  if (!capability) return "absent";
  const offset = capability(request);
  return Memory.find(offset).readString();
}

/** Resolves a path of property names from the global object, such as `Math.random` or `call.constructor`. */
function resolve(path: string): unknown {
  const roots: Record<string, unknown> = { function: play, global: globalThis };
  const [root = "", ...names] = path.split(".");
  let value: unknown = root in roots ? roots[root] : (globalThis as unknown as Record<string, unknown>)[root];
  for (const name of names) value = (value as Record<string, unknown> | undefined)?.[name];
  return value;
}

/** Uses the constructors of all four kinds of function. */
function compile(text: string): string[] {
  const kinds = [function () {}, function* () {}, async function () {}, async function* () {}];
  return kinds.map((kind) => {
    try {
      const made = new (kind.constructor as new (text: string) => unknown)(text);
      return typeof made === "function" ? "compiled" : "refused";
    } catch {
      return "refused";
    }
  });
}

function encode(text: string): unknown {
  const bytes = new TextEncoder().encode(text);
  return { bytes: Array.from(bytes), text: new TextDecoder().decode(bytes) };
}

function writeLarge(path: string, characters: number): unknown {
  return ask("store_write", { scope: "memory", path, content: "x".repeat(characters) });
}

function spin(): never {
  for (;;);
}

const spinBehind = {
  catch: (): never => {
    for (;;) {
      try {
        spin();
      } catch {
        spin();
      }
    }
  },
  finally: (): string => {
    try {
      spin();
    } finally {
      for (let turn = 0; turn < 1e9; turn++);
      // oxlint-disable-next-line no-unsafe-finally -- to swallow what has ended the loop
      return "swallowed";
    }
  },
  promise: (): string => {
    void (async () => spin())().catch(() => {});
    return "swallowed";
  },
  iterator: (): string => {
    const endless = {
      next: (): { done: false; value: number } => ({ done: false, value: 0 }),
      return: (): { done: true; value: number } => spin(),
    };
    for (const _ of { [Symbol.iterator]: () => endless }) spin();
    return "swallowed";
  },
};

const allocateBehind = {
  catch: (): never => {
    const kept: unknown[] = [];
    for (let next: unknown = null; ;) {
      try {
        for (;;) kept.push((next = { next }));
      } catch {
        kept.push(allocate());
      }
    }
  },
  cause: (): never => {
    try {
      return allocate() as never;
    } catch (cause) {
      throw new Error("Something has failed", { cause });
    }
  },
};

function recurse(depth: number): number {
  return recurse(depth + 1) + 1;
}

function allocate(): number {
  const kept: Uint8Array[] = [];
  for (;;) kept.push(new Uint8Array(1024 * 1024).fill(kept.length));
}

export const puppet: () => number = play;
export const reading_puppet: () => number = play;
export const listing_puppet: () => number = play;
export const two_scopes_puppet: () => number = play;

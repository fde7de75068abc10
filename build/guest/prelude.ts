/**
 * Runs in the guest before the plugin's own code: makes the globals that `@extism/js-pdk` declares from the natives of
 * `glue/engine.wat`, and then deletes the natives.
 *
 * It provides the part of the PDK that a tool needs: `Host`, `Memory`, `Config`, `console`, `TextEncoder` and
 * `TextDecoder`. There is no `Http` and no `Var`: their imports are not allowed in a memcell plugin.
 */
import { outcomeCodes } from "../outcome-codes.ts";
import { textDecoder, textEncoder } from "./text-coding.ts";

/** Replaced by the bundler: the names of the family's capabilities, in the order of the glue's numbers. */
declare const CAPABILITY_NAMES: readonly string[];

/** The natives by letter, as `glue/engine.wat` describes them. */
interface Natives {
  i(): string;
  o(text: string): void;
  e(text: string): void;
  s(text: string): bigint;
  r(handle: bigint): string;
  n(handle: bigint): number;
  f(handle: bigint): void;
  c(key: bigint): bigint;
  u(capability: number, request: bigint): bigint;
  l(deferredModule: number): unknown;
  w(handle: bigint, beginnings: string): string | undefined;
  t(handle: bigint): string | undefined;
  q(head: string, text: string): bigint | undefined;
  D(text: string): void;
  I(text: string): void;
  W(text: string): void;
  E(text: string): void;
}

/** The depth of `cause` chains that is checked: a guest can make a cycle of them. */
const causesMax = 8;

const scope = globalThis as unknown as Record<string, unknown>;

function takeNative<Letter extends keyof Natives>(letter: Letter): Natives[Letter] {
  const name = `__native_${letter}`;
  const native = scope[name] as Natives[Letter];
  delete scope[name];
  return native;
}

const input = takeNative("i");
const output = takeNative("o");
const fail = takeNative("e");
const store = takeNative("s");
const load = takeNative("r");
const length = takeNative("n");
const free = takeNative("f");
const configValue = takeNative("c");
const capability = takeNative("u");
const words = takeNative("w");
const content = takeNative("t");
const quoted = takeNative("q");
const log = { debug: takeNative("D"), info: takeNative("I"), warn: takeNative("W"), error: takeNative("E") };

class BlockHandle {
  readonly offset: bigint;
  readonly #len: number | undefined;

  constructor(offset: bigint | number, len?: bigint | number) {
    this.offset = BigInt(offset);
    this.#len = len === undefined ? undefined : Number(len);
  }

  /** Requested from the host only when needed: few plugins use it, and each request is a host call. */
  get len(): number {
    return this.#len ?? length(this.offset);
  }

  readString(): string {
    return load(this.offset);
  }

  readJsonObject(): unknown {
    return JSON.parse(load(this.offset));
  }

  free(): void {
    free(this.offset);
  }

  /** Not in the PDK, as the next one: see `read` and `wordsOf` in `plugin/kit/capabilities.ts`. */
  readContent(): string | undefined {
    return content(this.offset);
  }

  wordsBeginning(beginnings: string): string | undefined {
    return words(this.offset, beginnings);
  }
}

const memory = {
  fromString: (text: unknown): BlockHandle => new BlockHandle(store(String(text))),
  fromJsonObject: (value: unknown): BlockHandle => new BlockHandle(store(JSON.stringify(value))),
  find: (offset: bigint | number): BlockHandle => new BlockHandle(offset),
  /** Not in the PDK: see `write` in `plugin/kit/capabilities.ts`. */
  fromQuoted(head: string, text: string): BlockHandle | undefined {
    const offset = quoted(head, text);
    return offset === undefined ? undefined : new BlockHandle(offset);
  },
};

const capabilities = Object.fromEntries(
  CAPABILITY_NAMES.map((name, index) => [
    name,
    (request: bigint | number): bigint => capability(index, BigInt(request)),
  ]),
);

const host = {
  inputString: input,
  outputString: (text: unknown): boolean => {
    // All SDKs treat a missing output as empty, but they differ about a block of no bytes.
    if (text !== "") output(String(text));
    return true;
  },
  getFunctions: (): Record<string, unknown> => capabilities,
};

const config = {
  get(key: unknown): string | null {
    const block = configValue(store(String(key)));
    return block === 0n ? null : load(block);
  },
};

/** Never empty: a block of no bytes has no handle, and one SDK would log the byte at address 0. */
const line = (parts: unknown[]): string => parts.map(String).join(" ") || " ";

const guestConsole = {
  debug: (...parts: unknown[]): void => log.debug(line(parts)),
  log: (...parts: unknown[]): void => log.info(line(parts)),
  info: (...parts: unknown[]): void => log.info(line(parts)),
  warn: (...parts: unknown[]): void => log.warn(line(parts)),
  error: (...parts: unknown[]): void => log.error(line(parts)),
};

Object.assign(scope, {
  Host: host,
  Memory: memory,
  MemoryHandle: BlockHandle,
  Config: config,
  console: guestConsole,
  TextEncoder: textEncoder,
  TextDecoder: textDecoder,
});

/**
 * Parts of the language that a guest does not get. The engine has no compiler, so `eval` and `Function` could only
 * throw. Shared memory and microtasks are useless in a synchronous call.
 */
for (const name of ["eval", "Function", "SharedArrayBuffer", "Atomics", "queueMicrotask"]) delete scope[name];
for (const made of [function () {}, function* () {}, async function () {}, async function* () {}]) {
  delete (Object.getPrototypeOf(made) as Record<string, unknown>)["constructor"];
}

// The snapshot contains the generator's seed, so every call would get the same "random" numbers.
delete (Math as unknown as Record<string, unknown>)["random"];

/**
 * Makes the function that the glue runs for one exported tool. It never throws: an exception of the tool becomes the
 * call's error. It returns the tool's own return code.
 */
function entryPoint(tool: () => unknown): () => number {
  return () => {
    try {
      const code = tool();
      if (code === undefined) return 0;
      if (typeof code === "number") return code;
      throw new TypeError("A tool returns nothing or its exit code, and is not asynchronous");
    } catch (error) {
      const code = codeWithoutText(error);
      if (code !== null) return code;
      fail(error instanceof Error ? error.message || error.name : String(error));
      return 1;
    }
  };
}

/** The code to return for an error that must not become text, because there may be no memory left for it. */
function codeWithoutText(error: unknown): number | null {
  if (error === null) return outcomeCodes.nothing;
  return isOutOfMemory(error) ? outcomeCodes.outOfMemory : null;
}

/** Whether an error is the engine's "out of memory", or has it among its causes. */
function isOutOfMemory(error: unknown): boolean {
  let cause = error;
  for (let depth = 0; depth < causesMax && cause instanceof Error; depth++) {
    if (cause.name === "InternalError" && cause.message === "out of memory") return true;
    cause = cause.cause;
  }
  return false;
}

scope["__entryPoint"] = entryPoint;
scope["__loadDeferred"] = takeNative("l");

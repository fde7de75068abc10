/**
 * Runs in the guest before the plugin's own code: makes the globals that `@extism/js-pdk` declares out of the natives
 * of `glue/engine.wat`, and takes the natives away again.
 *
 * Of the PDK it offers what a tool needs: `Host`, `Memory`, `Config`, `console`, `TextEncoder` and `TextDecoder`.
 * There is no `Http` and no `Var`: neither is among the imports a memcell plugin may have.
 */
import { outcomeCodes } from "../outcome-codes.ts";
import { textDecoder, textEncoder } from "./text-coding.ts";

/** Replaced by the bundler: the names of the capabilities the family may call, in the order the glue knows them. */
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
  D(text: string): void;
  I(text: string): void;
  W(text: string): void;
  E(text: string): void;
}

/** Errors inside each other; a guest may tie them into a ring. */
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
const log = { debug: takeNative("D"), info: takeNative("I"), warn: takeNative("W"), error: takeNative("E") };

class BlockHandle {
  readonly offset: bigint;
  readonly #len: number | undefined;

  constructor(offset: bigint | number, len?: bigint | number) {
    this.offset = BigInt(offset);
    this.#len = len === undefined ? undefined : Number(len);
  }

  /** Asked of the host only when a plugin asks: few do, and each question crosses the border. */
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
}

const memory = {
  fromString: (text: unknown): BlockHandle => new BlockHandle(store(String(text))),
  fromJsonObject: (value: unknown): BlockHandle => new BlockHandle(store(JSON.stringify(value))),
  find: (offset: bigint | number): BlockHandle => new BlockHandle(offset),
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
    // Without an output the SDKs agree on "empty"; with a block of no bytes they do not.
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

/** Never empty: a block of no bytes has no handle, and one SDK would log the byte that lies at 0. */
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
 * What the language brings along and a guest does not get. The engine has no compiler, so `eval` and `Function` could
 * only throw; shared memory and microtasks serve nobody in a call that is synchronous.
 */
for (const name of ["eval", "Function", "SharedArrayBuffer", "Atomics", "queueMicrotask"]) delete scope[name];
for (const made of [function () {}, function* () {}, async function () {}, async function* () {}]) {
  delete (Object.getPrototypeOf(made) as Record<string, unknown>)["constructor"];
}

// The snapshot freezes the generator's seed, so every call would see the same "random" numbers. Better none.
delete (Math as unknown as Record<string, unknown>)["random"];

/**
 * Makes the function that the glue runs for one exported tool. It never throws: what the tool throws becomes the
 * call's error, and the tool's own return code is kept.
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

/** What to return for an error that must not be told in text: there may be no memory left for it. */
function codeWithoutText(error: unknown): number | null {
  if (error === null) return outcomeCodes.nothing;
  return isOutOfMemory(error) ? outcomeCodes.outOfMemory : null;
}

/** The engine's own error, or one that somebody made of it. */
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

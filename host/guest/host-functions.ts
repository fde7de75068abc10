/**
 * The functions that a guest imports: those of Extism's kernel that replace the SDK's own, and the capabilities.
 *
 * Those that make, free or print blocks have bounds here, because the SDK has none. Functions of the kernel that are not
 * here (`length`, `output_set`, `error_set`) are the SDK's.
 */
import { capabilityNames } from "../../shared/abi.ts";
import type { CapabilityName } from "../../shared/abi.ts";
import { callLimits } from "../../shared/limits.ts";
import type { LogLine } from "../log/log-entry.ts";
import type { BindableFunctions, BlockAccess, BlockBudget, BlockFinder } from "./block-access.ts";
import type { BoundCapabilities } from "./capabilities/bind-capabilities.ts";
import { strictText } from "./guest-json.ts";

/** The part of the SDK's call context that finds, makes and measures blocks. */
interface CallContext extends BlockFinder {
  alloc(bytes: bigint): bigint;
  store(text: string): bigint;
  length(block: bigint): bigint;
}

/** Smaller blocks are kept and counted until the call ends: freeing them would cost more than it saves. */
const bytesWorthFreeing = 16_384;

/** The state that the functions work on, new for each call. */
export interface KernelState {
  readonly access: BlockAccess;
  readonly budget: () => BlockBudget;
  readonly log: () => GuestLog | null;
  /** Called when a guest asks for its input's length, which it does at each poll of its engine. */
  readonly onPoll: () => void;
  readonly config: Readonly<Record<string, string>>;
}

type OnBlock<Result> = (context: CallContext, block: bigint) => Result;

/** By their names in `extism:host/env`. */
export type KernelFunctions = BindableFunctions & {
  readonly input_length: () => bigint;
  readonly alloc: (context: CallContext, bytes: bigint) => bigint;
  readonly free: OnBlock<void>;
  readonly config_get: OnBlock<bigint>;
} & Readonly<Record<`log_${LogLine["level"]}`, OnBlock<void>>>;

export function kernelFunctions({ access, budget, log, config, onPoll }: KernelState): KernelFunctions {
  const logAs =
    (level: LogLine["level"]) =>
    (_context: CallContext, line: bigint): void =>
      log()?.add(level, () => beginningOf(access.find(line)));

  return {
    ...access.functions,
    input_length: () => {
      onPoll();
      return BigInt(access.inputBytes);
    },
    alloc: (context: CallContext, bytes: bigint) => {
      budget().take(Number(bytes));
      return context.alloc(bytes);
    },
    free: (context: CallContext, block: bigint) => {
      if (block <= 0n) return;
      const bytes = Number(context.length(block));
      if (bytes < bytesWorthFreeing) return;
      access.forget();
      emptyBlock(context, block);
      budget().giveBack(bytes);
    },
    config_get: (context: CallContext, key: bigint) => {
      const value = config[beginningOf(access.find(key))];
      if (value === undefined) return 0n;
      budget().take(value.length);
      return context.store(value);
    },
    log_debug: logAs("debug"),
    log_info: logAs("info"),
    log_warn: logAs("warn"),
    log_error: logAs("error"),
  };
}

/** The text of a block, cut to the length of a log line. A UTF-8 character has at most four bytes. */
function beginningOf(block: DataView | null): string {
  if (block === null) return "";
  const bytes = Math.min(block.byteLength, 4 * callLimits.logLineCharsMax);
  return utf8.decode(new Uint8Array(block.buffer, block.byteOffset, bytes));
}

const utf8 = new TextDecoder();

/**
 * Frees a block by detaching its bytes; every later use of it is an error. The SDK's own function cannot be called once
 * it is replaced.
 */
function emptyBlock(context: CallContext, block: bigint): void {
  const buffer = context.read(block)?.arrayBuffer();
  if (buffer instanceof ArrayBuffer) structuredClone(buffer, { transfer: [buffer] });
}

/** The state that the functions work on, new for each call. */
interface CapabilityState {
  readonly access: BlockAccess;
  readonly budget: () => BlockBudget;
  /** `null` between two calls. */
  readonly capabilities: () => BoundCapabilities | null;
  /** Called when a capability has answered. */
  readonly onReply: (name: CapabilityName) => void;
}

type CapabilityFunction = (context: CallContext, request: bigint) => bigint;

/** The functions through which a guest asks for capabilities: each takes a block with a request and makes one with a reply. */
export function capabilityFunctions(state: CapabilityState): Record<string, CapabilityFunction> {
  const { access, budget, capabilities, onReply } = state;
  return Object.fromEntries(
    capabilityNames.map((name) => [
      name,
      (context, request) => {
        const bound = capabilities();
        if (!bound) throw new RangeError("An instance without a call has no capabilities");
        access.settle();
        const reply = bound[name](textOf(context, request));
        onReply(name);
        budget().take(Buffer.byteLength(reply));
        return context.store(reply);
      },
    ]),
  );
}

/** Handle 0 and handles without a block give an empty text, which no capability accepts. */
function textOf(context: CallContext, handle: bigint): string {
  if (handle <= 0n) return "";
  try {
    const bytes = context.read(handle)?.arrayBuffer();
    return bytes === undefined || bytes.byteLength > callLimits.requestBytesMax ? "" : strictText(bytes);
  } catch {
    return "";
  }
}

/** The log lines of one call. The guest's lines are bounded in number and length; further lines are only counted. */
export class GuestLog {
  readonly #lines: LogLine[] = [];
  #dropped = 0;
  readonly #ofHost: LogLine[] = [];

  get lines(): readonly LogLine[] {
    const dropped = { level: "warn", text: `${this.#dropped} further lines not shown` } as const;
    return [...this.#lines, ...(this.#dropped > 0 ? [dropped] : []), ...this.#ofHost];
  }

  /** `read` returns the text. It is not called for a line that is only counted. */
  add(level: LogLine["level"], read: () => string): void {
    if (this.#lines.length >= callLimits.logLinesMax) this.#dropped++;
    else this.#lines.push({ level, text: read().slice(0, callLimits.logLineCharsMax) });
  }

  /** Adds lines of the host. They are always shown, after the guest's. */
  addOfHost(lines: readonly LogLine[]): void {
    this.#ofHost.push(...lines);
  }
}

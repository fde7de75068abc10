/**
 * The functions of Extism's kernel that stand before the SDK's own: those that make blocks, free them or print them are
 * bounded here, for the SDK bounds nothing. What is not here (`length`, `output_set`, `error_set`, `input_length`) is
 * the SDK's.
 */
import { callLimits } from "../../shared/limits.ts";
import type { LogLine } from "../log/log-entry.ts";
import type { BlockAccess, BlockFinder } from "./block-access.ts";
import type { BlockBudget } from "./block-budget.ts";
import type { GuestLog } from "./guest-log.ts";

/** The part of the SDK's call context that makes and measures blocks. */
interface CallContext extends BlockFinder {
  alloc(bytes: bigint): bigint;
  store(text: string): bigint;
  length(block: bigint): bigint;
}

/** Smaller blocks stay, and stay counted, until the call ends: freeing them would cost more than it brings. */
const bytesWorthFreeing = 16_384;

/** What the functions work on: another one for each call. */
export interface KernelState {
  readonly access: BlockAccess;
  readonly budget: () => BlockBudget;
  readonly log: () => GuestLog | null;
  readonly config: Readonly<Record<string, string>>;
}

type OnBlock<Result> = (context: CallContext, block: bigint) => Result;

/** By their names in `extism:host/env`. */
export type KernelFunctions = BlockAccess["functions"] & {
  readonly alloc: (context: CallContext, bytes: bigint) => bigint;
  readonly free: OnBlock<void>;
  readonly config_get: OnBlock<bigint>;
} & Readonly<Record<`log_${LogLine["level"]}`, OnBlock<void>>>;

export function kernelFunctions({ access, budget, log, config }: KernelState): KernelFunctions {
  const logAs =
    (level: LogLine["level"]) =>
    (context: CallContext, line: bigint): void =>
      log()?.add(level, () => beginningOf(access.find(context, line)));

  return {
    ...access.functions,
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
      const value = config[beginningOf(access.find(context, key))];
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

/** The text of a block, as far as a log line can show it. No character of UTF-8 has more than four bytes. */
function beginningOf(block: DataView | null): string {
  if (block === null) return "";
  const bytes = Math.min(block.byteLength, 4 * callLimits.logLineCharsMax);
  return new TextDecoder().decode(new Uint8Array(block.buffer, block.byteOffset, bytes));
}

/**
 * The SDK's own way to free a block is out of reach once a function stands before it. Taking the bytes out of the block
 * frees as much, and makes every later use of it an error.
 */
function emptyBlock(context: CallContext, block: bigint): void {
  const buffer = context.read(block)?.bytes().buffer;
  if (buffer instanceof ArrayBuffer) structuredClone(buffer, { transfer: [buffer] });
}

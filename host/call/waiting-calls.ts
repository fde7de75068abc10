import { ToolError } from "../values/tool-error.ts";

interface Load {
  calls: number;
  /** The size of the calls' inputs. */
  bytes: number;
}

export interface WaitingLimits extends Readonly<Load> {
  readonly callsPerUser: number;
}

export interface WaitingCall {
  readonly userId: string;
  readonly action: string;
  readonly bytes: number;
  /** Ends the call before it has begun. */
  readonly giveWay: (error: ToolError) => void;
}

/** One user's waiting calls, the oldest first, and their load. */
interface Line extends Load {
  readonly waiting: Set<WaitingCall>;
}

/**
 * The calls that are admitted and do not run yet. When the queue is full, the newest calls of the user with the highest
 * load give way to a user with a lower load, so that one user's flood does not block others.
 */
export class WaitingCalls {
  readonly #limits: WaitingLimits;
  readonly #lines = new Map<string, Line>();
  readonly #total: Load = { calls: 0, bytes: 0 };

  constructor(limits: WaitingLimits) {
    this.#limits = limits;
  }

  /** Returns a function to call when the call has begun or ended; calling it twice is harmless. Throws `BUSY`. */
  admit(call: WaitingCall): () => void {
    const { calls = 0 } = this.#lines.get(call.userId) ?? {};
    const allowed = this.#limits.callsPerUser;
    if (calls >= allowed) throw busy(call, `${calls} calls of the user are waiting, at most ${allowed} allowed`);
    const leaving = [...this.#whoGivesWay("calls", call), ...this.#whoGivesWay("bytes", call)];
    for (const each of leaving) {
      if (this.#remove(each)) each.giveWay(busy(each, "too many calls are waiting, and the user has the most of them"));
    }
    this.#add(call);
    return () => void this.#remove(call);
  }

  /**
   * Returns the newest calls of the user with the highest load, as many as must give way. Throws `BUSY` if that user
   * would then have a lower load than the newcomer's user.
   */
  #whoGivesWay(kind: keyof Load, newcomer: WaitingCall): WaitingCall[] {
    const present = this.#total[kind];
    const excess = present + loadOf(newcomer)[kind] - this.#limits[kind];
    if (excess <= 0) return [];
    const heaviest = Array.from(this.#lines.values()).reduce((a, b) => (b[kind] > a[kind] ? b : a), noLine);
    const leaving: WaitingCall[] = [];
    let freed = 0;
    for (const call of Array.from(heaviest.waiting).toReversed()) {
      if (freed >= excess) break;
      freed += loadOf(call)[kind];
      leaving.push(call);
    }
    const own = (this.#lines.get(newcomer.userId)?.[kind] ?? 0) + loadOf(newcomer)[kind];
    if (freed >= excess && heaviest[kind] - freed >= own) return leaving;
    throw busy(newcomer, `${present} ${kindNames[kind]} are waiting, at most ${this.#limits[kind]} allowed`);
  }

  #add(call: WaitingCall): void {
    const line = this.#lines.get(call.userId) ?? { calls: 0, bytes: 0, waiting: new Set() };
    this.#lines.set(call.userId, line);
    line.waiting.add(call);
    for (const load of [line, this.#total]) {
      load.calls++;
      load.bytes += call.bytes;
    }
  }

  #remove(call: WaitingCall): boolean {
    const line = this.#lines.get(call.userId);
    if (!line?.waiting.delete(call)) return false;
    for (const load of [line, this.#total]) {
      load.calls--;
      load.bytes -= call.bytes;
    }
    if (line.calls === 0) this.#lines.delete(call.userId);
    return true;
  }
}

const noLine: Line = { calls: 0, bytes: 0, waiting: new Set() };
const kindNames = { calls: "calls", bytes: "bytes of input" } as const;

const loadOf = ({ bytes }: WaitingCall): Load => ({ calls: 1, bytes });

const busy = ({ action }: WaitingCall, reason: string): ToolError =>
  new ToolError("BUSY", `Cannot ${action}: ${reason}`);

import { ToolError } from "../values/tool-error.ts";
import type { CallerSignals } from "./caller-signals.ts";

/** What may end an admitted call early. Disposing of it forgets the caller's signal. */
export class CallControl implements Disposable {
  readonly #action: string;
  readonly #controller = new AbortController();
  readonly #forget: () => void;

  /** Throws `CANCELLED` when the caller's signal is aborted already. */
  constructor(action: string, ofCaller: AbortSignal | undefined, signals: CallerSignals) {
    this.#action = action;
    const cancelled = (): ToolError => new ToolError("CANCELLED", `Cannot ${action}: the caller cancelled it`);
    if (ofCaller?.aborted) throw cancelled();
    this.#forget = ofCaller ? signals.onAbort(ofCaller, () => this.end(cancelled())) : () => {};
  }

  /** Its reason is always a `ToolError`: what the call ends with. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Ends the call unless its commit has begun. */
  end(error: ToolError): void {
    this.#controller.abort(error);
  }

  endForClose(): void {
    this.end(closedMeanwhile(this.#action));
  }

  [Symbol.dispose](): void {
    this.#forget();
  }
}

export function closedMeanwhile(action: string): ToolError {
  return new ToolError("CANCELLED", `Cannot ${action}: the runtime was closed before it had ended`);
}

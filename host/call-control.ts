import { ToolError } from "./tool-error.ts";

/** What may end an admitted call early. Disposing of it forgets the caller's signal. */
export class CallControl implements Disposable {
  readonly #action: string;
  readonly #ofCaller: AbortSignal | undefined;
  readonly #controller = new AbortController();

  /** Throws `CANCELLED` when the caller's signal is aborted already. */
  constructor(action: string, ofCaller: AbortSignal | undefined) {
    this.#action = action;
    this.#ofCaller = ofCaller;
    if (ofCaller?.aborted) throw this.#cancelled();
    ofCaller?.addEventListener("abort", this.#cancel);
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
    this.#ofCaller?.removeEventListener("abort", this.#cancel);
  }

  readonly #cancel = (): void => this.end(this.#cancelled());

  #cancelled(): ToolError {
    return new ToolError("CANCELLED", `Cannot ${this.#action}: the caller cancelled it`);
  }
}

export function closedMeanwhile(action: string): ToolError {
  return new ToolError("CANCELLED", `Cannot ${action}: the runtime was closed before it had ended`);
}

interface Listening {
  readonly cancels: Set<() => void>;
  readonly listener: () => void;
}

/**
 * Adds one listener to each caller's signal: a program can use one signal for thousands of calls, and Node prints a
 * warning for the eleventh listener.
 */
export class CallerSignals {
  readonly #listening = new Map<AbortSignal, Listening>();

  /** Returns a function to call when the call has ended. */
  onAbort(signal: AbortSignal, cancel: () => void): () => void {
    const { cancels, listener } = this.#listening.get(signal) ?? this.#listen(signal);
    cancels.add(cancel);
    return () => {
      cancels.delete(cancel);
      if (cancels.size > 0) return;
      signal.removeEventListener("abort", listener);
      this.#listening.delete(signal);
    };
  }

  #listen(signal: AbortSignal): Listening {
    const cancels = new Set<() => void>();
    const listener = (): void => {
      for (const cancel of cancels) cancel();
    };
    const listening = { cancels, listener };
    signal.addEventListener("abort", listener);
    this.#listening.set(signal, listening);
    return listening;
  }
}

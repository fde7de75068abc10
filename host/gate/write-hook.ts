/** The program's say about a write before it takes effect: it can make a write wait, and nothing else. */
import type { OriginClass } from "../../shared/origin.ts";
import type { AskingTurn } from "../values/asking-turn.ts";
import type { SizedChange } from "../values/change-set.ts";
import { inTime } from "../values/in-time.ts";
import type { StatedOrigin } from "../values/origin.ts";
import { ToolError } from "../values/tool-error.ts";

/** One file that a call wants to write or to move to the trash. */
export interface WrittenFile {
  readonly scope: string;
  readonly path: string;
  /** The new text; `null` if the file is moved to the trash. */
  readonly text: string | null;
}

/** What a call wants to write. */
export interface AskedWrite {
  readonly userId: string;
  readonly tool: string;
  readonly plugin: string;
  /** What the program said of the call. */
  readonly origin: Pick<StatedOrigin, "class" | "run" | "turn" | "source">;
  readonly trust: OriginClass;
  /** In the order of the writes. The plugin's own index can be among them. */
  readonly files: readonly WrittenFile[];
}

/**
 * Looks at a write. `raise`: the write waits for the owner of the memory. `ok`: the policy alone decides, as without a
 * hook: no hook makes a write take effect that waits or is refused. A hook that throws, answers anything else, or takes
 * longer than 5 seconds raises, and the operator's log says why. The call's signal and `close()` end the wait.
 *
 * Meanwhile the call holds no files, no store, no thread and no connection to a database; only the user's other calls
 * wait. Then the call runs again, at the same time of its clock. What it writes then takes effect if it is, byte for byte
 * and made from the same files, what the hook was shown; only what the plugin makes from its files, such as an index, can
 * have others' entries by then. Otherwise the hook is asked about what would be written now. A call that would have to ask
 * a fifth time is `BUSY`. An answer counts for its call alone.
 *
 * A hook may call the runtime: for other users, and to read what the same user has. A write of the same user, of which it
 * would be asked again, is `BUSY` at once.
 *
 * @example
 * const onWrite: WriteHook = ({ files }) => (files.some(({ text }) => text?.includes("always")) ? "raise" : "ok");
 * const runtime = await createRuntime({ dataDir: "data", onWrite });
 * await runtime.close();
 */
export type WriteHook = (write: AskedWrite) => "ok" | "raise" | Promise<"ok" | "raise">;

const answerMs = 5_000;

/** How often the hook of one call is asked at most: each time others have changed the files while it answered. */
const asksMax = 4;

/** What the hook says of the writes of one call. */
export class HookAnswers {
  readonly #hook: WriteHook;
  readonly #onFailure: (error: unknown) => void;
  /** Whether it raises a write, by the write's digest. */
  readonly #raised = new Map<string, boolean>();
  #lacking: { readonly digest: string; readonly write: AskedWrite } | null = null;

  /** `onFailure` gets why the hook has not answered. */
  constructor(hook: WriteHook, onFailure: (error: unknown) => void) {
    this.#hook = hook;
    this.#onFailure = onFailure;
  }

  /** Whether the hook raises a write. `null` if it was not asked: then `askLacking` asks. `digest`: of all of the write. */
  of(digest: string, write: () => AskedWrite): boolean | null {
    const raised = this.#raised.get(digest) ?? null;
    this.#lacking = raised === null ? { digest, write: write() } : null;
    return raised;
  }

  /**
   * Asks what `of` had no answer to. For calls that hold no locks. Returns whether there was anything. Throws `BUSY` if it
   * was asked too often.
   */
  async askLacking(turn: AskingTurn, action: string): Promise<boolean> {
    const lacking = this.#lacking;
    if (lacking === null) return false;
    if (this.#raised.size === asksMax) {
      const reason = `others have changed the files each of the ${asksMax} times that onWrite was asked`;
      throw new ToolError("BUSY", `Cannot ${action}: ${reason}`);
    }
    const { digest, write } = lacking;
    this.#raised.set(digest, await turn.askProgram(() => this.#ask(write, turn), { isWaiting: false }));
    this.#lacking = null;
    return true;
  }

  async #ask(write: AskedWrite, { signal }: AskingTurn): Promise<boolean> {
    const hook = this.#hook;
    const until = performance.now() + answerMs;
    try {
      return (await inTime(Promise.resolve(hook(write)), { until, signal, tooLong })) !== "ok";
    } catch (error) {
      signal.throwIfAborted();
      this.#onFailure(error);
      return true;
    }
  }
}

const tooLong = (waitedMs: number): ToolError => new ToolError("BUSY", `onWrite has not answered in ${waitedMs} ms`);

export function writtenFiles(changes: readonly SizedChange[]): WrittenFile[] {
  return changes.map((change) => {
    const { scope, path } = change;
    if (change.kind !== "write") return { scope, path, text: null };
    return { scope, path, text: Buffer.from(change.content).toString("utf8") };
  });
}

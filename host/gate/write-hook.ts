/** The program's say about a write before it takes effect: it can make a write wait, and nothing else. */
import type { OriginClass } from "../../shared/origin.ts";
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
 * longer than 5 seconds raises, and the operator's log says why. Meanwhile the user's other calls wait.
 *
 * @example
 * const onWrite: WriteHook = ({ files }) => (files.some(({ text }) => text?.includes("always")) ? "raise" : "ok");
 * const runtime = await createRuntime({ dataDir: "data", onWrite });
 * await runtime.close();
 */
export type WriteHook = (write: AskedWrite) => "ok" | "raise" | Promise<"ok" | "raise">;

const answerMs = 5_000;

const tooLong = (waitedMs: number): ToolError => new ToolError("BUSY", `onWrite has not answered in ${waitedMs} ms`);

/** Whether a hook wants a write to wait. `onFailure` gets why a hook has not answered. */
export async function isRaised(
  hook: WriteHook,
  write: AskedWrite,
  onFailure: (error: unknown) => void,
): Promise<boolean> {
  try {
    const until = performance.now() + answerMs;
    return (await inTime(Promise.resolve(hook(write)), { until, tooLong })) !== "ok";
  } catch (error) {
    onFailure(error);
    return true;
  }
}

export function writtenFiles(changes: readonly SizedChange[]): WrittenFile[] {
  return changes.map((change) => {
    const { scope, path } = change;
    if (change.kind !== "write") return { scope, path, text: null };
    return { scope, path, text: Buffer.from(change.content).toString("utf8") };
  });
}

/** A process that decides about writes as it is told, and tells what has become of each. */
import { createRuntime } from "memcell";

/** `text`: what the write is corrected to; `null` rejects it. */
export interface ToDecide {
  readonly id: string;
  readonly text: string | null;
}

const [dataDir = "", userId = ""] = process.argv.slice(2);
const runtime = await createRuntime({ dataDir, threadsMax: 1 });
const { upkeep } = runtime;

process.on("message", ({ id, text }: ToDecide) => {
  const decided = text === null ? upkeep.reject({ userId }, id) : upkeep.approve({ userId }, id, { text });
  void decided.then(
    () => process.send?.(""),
    (error: unknown) => process.send?.(String(error)),
  );
});
process.on("disconnect", () => void runtime.close());
process.send?.("");

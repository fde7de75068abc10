/** The export of the tool `StoreBatch`. Wiring only. */
import * as z from "../../../shared/zod.ts";
import { serveProgram } from "../../kit/serve-tool.ts";
import { runBatch } from "./run-batch.ts";
import type { BatchInput } from "./run-batch.ts";

const allowed = "a list of operations";

const input: z.ZodMiniType<BatchInput> = z.strictObject(
  { operations: z.array(z.unknown(), { error: allowed }) },
  { error: "no other field than operations" },
);

export const store_batch = serveProgram("StoreBatch", input, runBatch);

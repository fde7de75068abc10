import { RunHistoryError } from "memcell/run-history";

/** The error that some work throws. */
export function faultOf(work: () => unknown): RunHistoryError {
  try {
    work();
  } catch (error) {
    if (error instanceof RunHistoryError) return error;
    throw error;
  }
  throw new Error("nothing was refused");
}

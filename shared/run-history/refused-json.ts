/** Returns for an error that says something about a text. Throws any other again, such as one of a full memory. */
export function refusedJson(error: unknown): void {
  if (error instanceof SyntaxError || error instanceof RangeError) return;
  if (error instanceof Error && error.message === "stack overflow") return;
  throw error;
}

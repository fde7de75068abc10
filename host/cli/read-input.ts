import { callLimits } from "../../shared/limits.ts";

/** Standard input as text, or why it is none: too long for any tool, or not UTF-8. */
export async function readInput(): Promise<{ text: string } | { value: string; allowed: string }> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > callLimits.inputBytesMax) {
      return { value: `over ${callLimits.inputBytesMax} bytes`, allowed: `at most ${callLimits.inputBytesMax} bytes` };
    }
    chunks.push(chunk);
  }
  try {
    return { text: new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(chunks)) };
  } catch {
    return { value: "not UTF-8", allowed: "a JSON object in UTF-8" };
  }
}

/** Which vectors can go through MCP, and why the others cannot. */
import { isUserId } from "../../host/values/user-id.ts";
import type { Vector, VectorCall } from "../conformance/vector.ts";

/** In the order in which they are looked for: a vector has the first that is true of one of its calls. */
const reasons = {
  "a tool for the host alone": ({ audience }: VectorCall) => audience === "host",
  "an input that is no JSON object": ({ input }: VectorCall) =>
    typeof input !== "object" || input === null || Array.isArray(input),
  "a key that the server's JSON has not": ({ input }: VectorCall) => JSON.stringify(input).includes('"__proto__":'),
  "a user whom no token can name": ({ context: { userId } }: VectorCall) => !canBeNamed(userId),
} as const satisfies Record<string, (call: VectorCall) => boolean>;

/** `null`: it goes through. */
export function wayBarred({ calls, parallel }: Vector): string | null {
  // What they answer depends on who comes first, and requests at once have connections of their own.
  if (parallel) return "calls at once, in one order";
  const barred = Object.entries(reasons).find(([, isTrueOf]) => calls.some(isTrueOf));
  return barred?.[0] ?? null;
}

/** A server admits those users only that a runtime would serve. */
export function canBeNamed(userId: string | undefined): userId is string {
  return userId !== undefined && isUserId(userId);
}

import type { Vector, VectorCall } from "../conformance/vector.ts";
/** Decides which vectors can go through MCP, and why the others cannot. */
import { isUserId } from "../stage/store.ts";

/** Why no client can send a call. */
const unsendable = {
  "a store for which only a program can vouch": ({ context: { stores = [] } }: VectorCall) => stores.length > 0,
  "an input that is no JSON object": ({ input }: VectorCall) =>
    typeof input !== "object" || input === null || Array.isArray(input),
  "a key that the server's JSON has not": ({ input }: VectorCall) => JSON.stringify(input).includes('"__proto__":'),
  "a user whom no token can name": ({ context: { userId } }: VectorCall) => !canBeNamed(userId),
} as const satisfies Record<string, (call: VectorCall) => boolean>;

/** The first reason that holds for one of a vector's calls counts. */
const reasons = {
  "a tool or command for the host alone": (call: VectorCall) => isForHost(call),
  ...unsendable,
} as const;

/** Whether models are not offered what is called. Of `memory`, they are offered all but sharing. */
export function isForHost({ tool, audience, input }: VectorCall): boolean {
  return audience === "host" && (tool !== "memory" || isSharing(input));
}

const isSharing = (input: unknown): boolean =>
  ["share", "unshare"].includes((input as { readonly command?: string } | null)?.command ?? "");

/** Returns `null` if the vector can go through MCP. */
export function wayBarred({ calls, parallel }: Vector): string | null {
  // The answers depend on the order of arrival, and simultaneous requests use separate connections.
  if (parallel) return "calls at once, in one order";
  const barred = Object.entries(reasons).find(([, isTrueOf]) => calls.some(isTrueOf));
  return barred?.[0] ?? null;
}

/** Whether a client can send a call, so that the server can refuse it. */
export function canBeSent(call: VectorCall): boolean {
  return Object.values(unsendable).every((isTrueOf) => !isTrueOf(call));
}

/** A server admits the same user ids as a runtime. */
export function canBeNamed(userId: string | undefined): userId is string {
  return userId !== undefined && isUserId(userId);
}

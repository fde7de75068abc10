/**
 * The vectors through MCP: answers and users' files must be the same as from any other host. A sixth of them in each of two
 * revisions of the protocol, others with each seed. `TEST_LONG=1` replays all in both.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { diskLacks } from "../conformance/disk-abilities.ts";
import { readVectors } from "../conformance/vector.ts";
import type { Vector, VectorCall } from "../conformance/vector.ts";
import type { ClientMode } from "../stage/http.ts";
import { oneIn } from "../stage/seed.ts";
import { isUserId } from "../stage/store.ts";
import { skipWithReason } from "../support/skip-with-reason.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { McpReplay } from "./replay-over-mcp.ts";

/** Why no client can send a call. */
const unsendable = {
  "a store for which only a program can vouch": ({ context: { stores = [] } }: VectorCall) => stores.length > 0,
  "an input that is no JSON object": ({ input }: VectorCall) =>
    typeof input !== "object" || input === null || Array.isArray(input),
  "a key that the server's JSON has not": ({ input }: VectorCall) => JSON.stringify(input).includes('"__proto__":'),
  // A server admits the same user ids as a runtime.
  "a user whom no token can name": ({ context: { userId = "" } }: VectorCall) => !isUserId(userId),
} as const satisfies Record<string, (call: VectorCall) => boolean>;

/** The first reason that holds for one of a vector's calls counts. */
const reasons = {
  "a tool or command for the host alone": (call: VectorCall) => isForHost(call),
  ...unsendable,
} as const;

/** Whether models are not offered what is called. Of `memory`, they are offered all but sharing. */
function isForHost({ tool, audience, input }: VectorCall): boolean {
  return audience === "host" && (tool !== "memory" || isSharing(input));
}

const isSharing = (input: unknown): boolean =>
  ["share", "unshare"].includes((input as { readonly command?: string } | null)?.command ?? "");

/** Returns `null` if the vector can go through MCP. */
function wayBarred({ calls, parallel }: Vector): string | null {
  // The answers depend on the order of arrival, and simultaneous requests use separate connections.
  if (parallel) return "calls at once, in one order";
  return Object.entries(reasons).find(([, isTrueOf]) => calls.some(isTrueOf))?.[0] ?? null;
}

/** Whether a client can send a call, so that the server can refuse it. */
function canBeSent(call: VectorCall): boolean {
  return Object.values(unsendable).every((isTrueOf) => !isTrueOf(call));
}

const vectors = readVectors();
const through = vectors.filter(({ vector }) => wayBarred(vector) === null);

afterAll(() => {
  const routes = vectors.map(({ vector }) => wayBarred(vector) ?? "through MCP");
  const lines = [...new Set(routes)].map(
    (route) => `${routes.filter((each) => each === route).length} vectors: ${route}`,
  );
  console.log(lines.join("\n"));
});

test("most vectors of the shipped tools can go through MCP", () => {
  expect(through.length).toBeGreaterThanOrEqual(150);
});

describe.for<ClientMode>(["legacy", "2026-07-28"])("a client of %s", (mode) => {
  const folder = temporaryFolder();
  let replay: McpReplay;

  beforeAll(async () => {
    replay = await McpReplay.open(folder.path, mode);
  });

  afterAll(async () => {
    await replay[Symbol.asyncDispose]();
    folder[Symbol.dispose]();
  });

  test.for(oneIn(6, through))("$name", async ({ vector }, context) => {
    const lacking = vector.needs?.find((ability) => diskLacks(ability, folder.path));
    if (lacking) skipWithReason(context, `the disk has no ${lacking}`);
    expect(await replay.run(vector)).toEqual([]);
  });

  const unnamed = new Set(vectors.flatMap(({ vector }) => vector.calls.map(({ context: { userId = "" } }) => userId)));

  test.for([...unnamed].filter((userId) => !isUserId(userId)))("refuses to serve %j as a user", async (userId) => {
    const { vector } = through[0] as (typeof through)[number];
    const asNobody = { ...(vector.calls[0] as VectorCall), context: { userId, epochMs: 0 } };
    await expect(replay.call(vector, asNobody)).rejects.toMatchObject({ status: 403 });
  });

  const forHosts = vectors.flatMap(({ name, vector }) =>
    vector.calls.filter((call) => isForHost(call) && canBeSent(call)).map((call) => ({ name, vector, call })),
  );

  test.for(oneIn(6, forHosts))("$call.tool of $name is for the host only", async ({ vector, call }) => {
    const code = call.tool === "memory" ? "INPUT_INVALID" : "TOOL_UNKNOWN";
    expect(await replay.call(vector, call)).toMatchObject({ ok: false, error: { code } });
  });
});

/**
 * The vectors through MCP: answers and users' files must be the same as from any other host. A sixth of them in each of two
 * revisions of the protocol, others with each seed. `TEST_LONG=1` replays all in both.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { diskLacks } from "../conformance/disk-abilities.ts";
import { readVectors } from "../conformance/vector.ts";
import type { VectorCall } from "../conformance/vector.ts";
import type { ClientMode } from "../stage/http.ts";
import { oneIn } from "../stage/seed.ts";
import { skipWithReason } from "../support/skip-with-reason.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { McpReplay } from "./replay-over-mcp.ts";
import { VectorHost } from "./vector-host.ts";
import { canBeNamed, canBeSent, isForHost, wayBarred } from "./vector-routes.ts";

const vectors = readVectors();
const through = vectors.filter(({ vector }) => wayBarred(vector) === null);
let host: VectorHost;

beforeAll(async () => {
  host = await VectorHost.start();
});

afterAll(async () => {
  await host[Symbol.asyncDispose]();
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

  beforeAll(() => {
    replay = new McpReplay(host, folder.path, mode);
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

  test.for([...unnamed].filter((userId) => !canBeNamed(userId)))("refuses to serve %j as a user", async (userId) => {
    const { vector } = through[0] as (typeof through)[number];
    const asNobody = { ...(vector.calls[0] as VectorCall), context: { userId, epochMs: 0 } };
    await expect(replay.call(vector, asNobody)).rejects.toMatchObject({ status: 403 });
  });

  const forHosts = vectors.flatMap(({ name, vector }) =>
    vector.calls.filter(isForHost).map((call) => ({ name, vector, call })),
  );

  test.for(
    oneIn(
      6,
      forHosts.filter(({ call }) => canBeSent(call)),
    ),
  )("$call.tool of $name is for the host only", async ({ vector, call }) => {
    const code = call.tool === "memory" ? "INPUT_INVALID" : "TOOL_UNKNOWN";
    expect(await replay.call(vector, call)).toMatchObject({ ok: false, error: { code } });
  });
});

/** One stage for the tests of a file, which are skipped if the crate cannot be compiled. */
import { afterAll, beforeAll } from "vitest";
import type { TestContext } from "vitest";

import { skipWithReason } from "../support/skip-with-reason.ts";
import { buildTimeoutMs, preparePeer } from "./prepare-peer.ts";
import { openStage } from "./stage.ts";
import type { Stage } from "./stage.ts";

export function useStage(): (context: TestContext) => Stage {
  let stage: Stage | null = null;
  let missing = "";
  beforeAll(async () => {
    const peer = await preparePeer();
    if ("program" in peer) stage = await openStage(peer.program);
    else ({ missing } = peer);
  }, buildTimeoutMs);
  afterAll(() => stage?.[Symbol.asyncDispose]());
  return (context) => stage ?? skipWithReason(context, `no agentool: ${missing}`);
}

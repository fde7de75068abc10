/** The Node host with the line protocol of the other hosts, so that all five are called in the same way. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";

import { createRuntime, fileStore, ToolError } from "memcell";
import type { Runtime } from "memcell";

import { withoutTableFields } from "../../conformance/plain-result.ts";
import { RenewedStore } from "../../conformance/renewed-store.ts";
import { policyFor } from "../../support/policy-for.ts";
import type { Hosted, HostedCall } from "../line-host.ts";

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
let epochMs: number | undefined;

const hosted = JSON.parse(await nextLine()) as Hosted;
const store = new RenewedStore(fileStore({ dir: hosted.dataDir }));
const runtime = await open(hosted);
if (runtime) {
  answer({ ok: true });
  for (let line = await nextLine(); line; line = await nextLine())
    answer(await perform(JSON.parse(line) as HostedCall));
  await runtime.close();
}

async function nextLine(): Promise<string> {
  const { value = "" } = await lines.next();
  return value;
}

function answer(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}

async function open({ plugin, sha256, limits = {} }: Hosted): Promise<Runtime | null> {
  try {
    if (sha256 && createHash("sha256").update(readFileSync(plugin)).digest("hex") !== sha256) {
      throw new ToolError("PLUGIN_REFUSED", "Cannot load the plugin: it is not the pinned file");
    }
    const clock = (): number => epochMs ?? Date.now();
    const policy = policyFor([plugin], limits);
    return await createRuntime({ store: store.definition, plugins: [plugin], policy, clock, threadsMax: 1 });
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    answer({ ok: false, error: { code: error.code, message: error.message } });
    process.exitCode = 1;
    return null;
  }
}

async function perform(call: HostedCall): Promise<unknown> {
  if (call.isRenewed) await store.renew(fileStore({ dir: hosted.dataDir }));
  epochMs = call.context.epochMs;
  // A caller can leave out the user, although the types forbid it.
  const ctx = { userId: call.context.userId } as { userId: string };
  const asked = runtime as Runtime;
  const result =
    call.audience === "host"
      ? await asked.callAsHost(call.tool, call.input, ctx)
      : await asked.call(call.tool, call.input, ctx);
  return withoutTableFields(result);
}

/** Reading is limited by unanswered requests and by what the other side accepts. */
import { once } from "node:events";
import { PassThrough, Writable } from "node:stream";
import { setImmediate } from "node:timers/promises";

import { expect, test } from "vitest";

import { mcpLimits } from "../../host/serve/mcp/mcp-limits.ts";
import type { JSONRPCMessage } from "../../host/serve/mcp/sdk.ts";
import { LineTransport, LineBuffer } from "../../host/serve/stdio/line-transport.ts";

const ping = (id: number): string => `${JSON.stringify({ jsonrpc: "2.0", id, method: "ping" })}\n`;
const pings = (count: number): string => Array.from({ length: count }, (_, id) => ping(id)).join("");
const answer = (id: number): JSONRPCMessage => ({ jsonrpc: "2.0", id, result: {} });

async function turns(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await setImmediate();
}

function open(output: Writable): { input: PassThrough; wire: LineTransport; read: JSONRPCMessage[] } {
  const [input, read] = [new PassThrough(), [] as JSONRPCMessage[]];
  const wire = new LineTransport(input, output);
  Object.assign(wire, { onmessage: (message: JSONRPCMessage) => read.push(message) });
  void wire.start();
  return { input, wire, read };
}

test("reads only up to the limit of unanswered requests; each answer admits one more", async () => {
  const { input, wire, read } = open(new PassThrough().resume());
  input.write(pings(1_000));
  await turns();
  expect(read).toHaveLength(mcpLimits.requestsInFlightMax);
  await wire.send(answer(0));
  await turns();
  expect(read).toHaveLength(mcpLimits.requestsInFlightMax + 1);
  await wire.close();
});

test("a cancellation frees its request's place, because the request gets no answer", async () => {
  const { input, wire, read } = open(new PassThrough().resume());
  const cancel = { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 3 } };
  input.write(`${pings(mcpLimits.requestsInFlightMax)}${JSON.stringify(cancel)}\n${ping(1_000)}${ping(1_001)}`);
  await turns();
  expect(read.at(-1)).toMatchObject({ id: 1_000 });
  await wire.close();
});

test("reads nothing while the other side does not accept output", async () => {
  let take: (() => void) | null = null;
  const output = new Writable({ highWaterMark: 10, write: (_chunk, _encoding, done) => (take = done) });
  const { input, wire, read } = open(output);
  await wire.send(answer(0));
  input.write(pings(5));
  await turns();
  expect(read).toEqual([]);
  const drained = once(output, "drain");
  (take as (() => void) | null)?.();
  await drained;
  await turns();
  expect(read).toHaveLength(5);
  await wire.close();
});

test("does not wait for streams of changes at the end", async () => {
  const { input, wire, read } = open(new PassThrough().resume());
  input.end(`${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "subscriptions/listen", params: {} })}\n`);
  await wire.ended();
  await wire.answered(new AbortController().signal);
  expect(read).toHaveLength(1);
});

test("accepts a line with as many bytes as allowed, and not one more", () => {
  const lines = new LineBuffer(5);
  const take = (text: string): string[] => Array.from(lines.take(Buffer.from(text)), String);
  expect(take("12345\n123")).toEqual(["12345"]);
  expect(take("45\n\n\n")).toEqual(["12345", "", ""]);
  expect(take("1234")).toEqual([]);
  expect(take("56789\n1\n")).toEqual(["null", "1"]);
});

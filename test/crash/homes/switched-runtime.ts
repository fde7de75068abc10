/** A runtime on one store after the other: to open one takes longer than all calls of a life together. */
import { rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

import type * as memcell from "memcell";
import type { Runtime } from "memcell";

import { historyDefaults } from "../../stage/store.ts";
import type { StoreId } from "../../stage/store.ts";
import type { Host, StoreUnderTest } from "../store-under-test.ts";
import type { GateOperation } from "./step.ts";
import type { StorePlace } from "./subject.ts";
import { through } from "./through.ts";
import { memoryFolder } from "./tree.ts";

/** It stands still, so that the same operation in the same state always writes the same bytes. */
const clock = (): number => Date.UTC(2026, 0, 2);

/** A store must go by the clock of its versions: by another one, all former contents could be too old. */
export const settings = { history: historyDefaults, clock };

export interface SwitchedRuntime extends AsyncDisposable {
  /** Starts the threads there. Only the runtime touches files that are not the store's. */
  start(place: StorePlace): Promise<void>;
  /** Resolves when the answer is given. Throws an error with a code if it is a failure. */
  perform(place: StorePlace, operation: GateOperation): Promise<void>;
}

const alice = { userId: "alice" };
/** A store that the user reaches by the program's word. */
export const chat = "c0000000-0000-4000-8000-000000000000" as StoreId;
const inferringRun = "infers";
/** What an undo fails with here if it lists a file that it has left as it was. */
export const leftCode = "LEFT";

export async function switchedRuntime(host: Host): Promise<SwitchedRuntime> {
  const index = pathToFileURL(join(host.folder, "index.js")).href;
  const { createRuntime, fileStore } = (await import(index)) as typeof memcell;
  const folder = memoryFolder();
  const dir = join(folder.path, "data");
  let present: StoreUnderTest | null = null;
  const now = (): StoreUnderTest["engine"] => {
    if (present === null) throw new Error("The runtime has no store yet");
    return present.engine;
  };
  const switched = through(now, { close: () => Promise.resolve() });
  const runtime = await createRuntime({
    store: { ...fileStore({ dir }), open: () => switched },
    plugins: ["user-memory", "stores"],
    threadsMax: 1,
    retiresLeftOver: false,
    clock,
  });
  const switchTo = ({ store, path }: StorePlace): void => {
    present = store;
    rmSync(dir, { force: true });
    symlinkSync(path, dir);
  };
  return {
    start: async (place) => {
      switchTo(place);
      await runtime.memoryIndex({ userId: "nobody" });
    },
    perform: (place, operation) => {
      switchTo(place);
      return perform(runtime, operation);
    },
    [Symbol.asyncDispose]: async () => {
      await runtime.close();
      folder[Symbol.dispose]();
    },
  };
}

async function perform(runtime: Runtime, { act, name, body }: GateOperation): Promise<void> {
  switch (act) {
    case "write":
    case "infer":
    case "wait":
      return await write(runtime, act, { name, body });
    case "approve":
    case "reject": {
      const [first] = await runtime.upkeep.pending(alice);
      if (first === undefined) return;
      const shown = first.files.find(({ isDerived }) => !isDerived)?.text ?? "";
      const options = name === "" ? {} : { text: `${shown}${name}\n` };
      await (act === "approve"
        ? runtime.upkeep.approve(alice, first.id, options)
        : runtime.upkeep.reject(alice, first.id));
      return;
    }
    case "read": {
      const origin = { class: "direct_user", run: body === "" ? "reads" : body } as const;
      return refuseFailure(await runtime.call("ReadUserMemory", { name }, { ...alice, origin }), "ENTRY_NOT_FOUND");
    }
    case "rename": {
      const [path, to] = [`/memories/${name}.md`, `/memories/shared/${chat}/${name}.md`];
      const ctx = { ...alice, stores: [{ id: chat, kind: "chat" as const }] };
      const renamed = await runtime.call("memory", { command: "rename", path, new_str: to }, ctx);
      return refuseFailure(renamed, "ENTRY_NOT_FOUND");
    }
    case "undo": {
      const versions = await runtime.upkeep.history(alice);
      if (!versions.some(({ run }) => run === inferringRun)) return;
      const { left } = await runtime.upkeep.undo(alice, { run: inferringRun });
      if (left.length > 0) throw Object.assign(new Error(left[0]?.reason), { name: "ToolError", code: leftCode });
    }
  }
}

const classes = { write: "direct_user", infer: "model_inference", wait: "tool_external" } as const;

async function write(
  runtime: Runtime,
  act: keyof typeof classes,
  { name, body }: Pick<GateOperation, "name" | "body">,
): Promise<void> {
  const entry = { action: "upsert", name, type: "user", description: `About ${name}`, body };
  const note = { command: "create", path: `/memories/${name}.md`, content: body };
  const [tool, input] = name.startsWith("note") ? (["memory", note] as const) : (["UpdateUserMemory", entry] as const);
  const origin = { class: classes[act], run: act === "infer" ? inferringRun : act };
  const ctx = { ...alice, callId: `${act} ${name}`, origin };
  refuseFailure(await runtime.call(tool, input, ctx), act === "wait" ? "WRITE_PENDING" : null);
}

function refuseFailure(result: Awaited<ReturnType<Runtime["call"]>>, wanted: string | null): void {
  if (result.ok || result.error.code === wanted) return;
  throw Object.assign(new Error(result.error.message), { name: "ToolError", code: result.error.code });
}

/** A runtime on one store after the other: to open one takes longer than all calls of a life together. */
import { rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

import type * as RuntimeModule from "../../../host/runtime/runtime.ts";
import type * as DefinitionModule from "../../../host/store/files/define-files.ts";
import type { GateOperation } from "./gate-operation.ts";
import type { Host } from "./host.ts";
import { memoryFolder } from "./memory-folder.ts";
import { clock } from "./standing-clock.ts";
import type { StorePlace, StoreUnderTest } from "./subject.ts";

type Runtime = Awaited<ReturnType<typeof RuntimeModule.createRuntime>>;

export interface SwitchedRuntime extends AsyncDisposable {
  /** From now on it works there. Only this touches files that are not the store's. */
  switchTo(place: StorePlace): void;
  /** Resolves when the answer is given. Throws an error with a code if it is a failure. */
  perform(operation: GateOperation): Promise<void>;
}

const alice = { userId: "alice" };
const inferringRun = "infers";
/** What an undo fails with here if it lists a file that it has left as it was. */
export const leftCode = "LEFT";

export async function switchedRuntime(host: Host): Promise<SwitchedRuntime> {
  const load = (file: string): Promise<unknown> => import(pathToFileURL(join(host.folder, file)).href);
  const { createRuntime } = (await load("runtime/runtime.js")) as typeof RuntimeModule;
  const { fileStore } = (await load("store/files/define-files.js")) as typeof DefinitionModule;
  const folder = memoryFolder();
  const dir = join(folder.path, "data");
  let present: StoreUnderTest | null = null;
  const now = (): StoreUnderTest => {
    if (present === null) throw new Error("The runtime has no store yet");
    return present;
  };
  const switched = through(now, { shared: through(() => now().shared), close: () => Promise.resolve() });
  const runtime = await createRuntime({
    store: { ...fileStore({ dir }), open: () => switched },
    plugins: ["user-memory"],
    threadsMax: 1,
    retiresLeftOver: false,
    clock,
  });
  return {
    switchTo: ({ store, path }) => {
      present = store;
      rmSync(dir, { force: true });
      symlinkSync(path, dir);
    },
    perform: (operation) => perform(runtime, operation),
    [Symbol.asyncDispose]: async () => {
      await runtime.close();
      folder[Symbol.dispose]();
    },
  };
}

/** An object that is always the present one, but for some members. */
function through<Target extends object>(present: () => Target, fixed: Partial<Target> = {}): Target {
  return new Proxy(fixed as Target, {
    get: (_fixed, key) => {
      if (Reflect.has(fixed, key)) return Reflect.get(fixed, key) as unknown;
      const target = present();
      const value = Reflect.get(target, key) as unknown;
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
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
      if (first !== undefined) await runtime.upkeep[act](alice, first.id);
      return;
    }
    case "read": {
      const origin = { class: "direct_user", run: body === "" ? "reads" : body } as const;
      return refuseFailure(await runtime.call("ReadUserMemory", { name }, { ...alice, origin }), "ENTRY_NOT_FOUND");
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
  const input = { action: "upsert", name, type: "user", description: `About ${name}`, body };
  const origin = { class: classes[act], run: act === "infer" ? inferringRun : act };
  const ctx = { ...alice, callId: `${act} ${name}`, origin };
  refuseFailure(await runtime.call("UpdateUserMemory", input, ctx), act === "wait" ? "WRITE_PENDING" : null);
}

function refuseFailure(result: Awaited<ReturnType<Runtime["call"]>>, wanted: string | null): void {
  if (result.ok || result.error.code === wanted) return;
  throw Object.assign(new Error(result.error.message), { name: "ToolError", code: result.error.code });
}

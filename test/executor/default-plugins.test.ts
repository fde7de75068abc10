/** What a program gets that names no plugins, what each named one adds, and what it is told about one that is missing. */
import { readFileSync } from "node:fs";

import { createRuntime, memoryStore, ToolError } from "memcell";
import type { Runtime, RuntimeOptions } from "memcell";
import { newEvent, plannerNoteData, RunHistory } from "memcell/run-history";
import { expect, test } from "vitest";

import type { Manifest } from "../../shared/manifest.ts";
import { policyFor } from "../support/policy-for.ts";
import { manifestOf } from "../support/reseal-plugin.ts";
import { shippedNames, shippedPlugin, testPlugin } from "../support/test-plugin.ts";

const alice = { userId: "alice" };
const manifests = new Map(shippedNames().map((name) => [name, manifestOf(readFileSync(shippedPlugin(name)))]));

const modelTools = ({ tools }: Manifest): string[] =>
  tools.filter(({ audience }) => audience === "model").map(({ name }) => name);

async function withRuntime(
  options: Pick<RuntimeOptions, "plugins" | "policy">,
  work: (runtime: Runtime) => Promise<void> | void,
): Promise<void> {
  await using runtime = await createRuntime({ ...options, store: memoryStore(), threadsMax: 1 });
  await work(runtime);
}

/** What the host says itself, behind what the plugins say. */
const ownWords = (text: string): string => {
  const said = manifests.get("user-memory")?.instructions ?? "";
  return text.startsWith(`${said}\n`) ? text.slice(said.length + 1) : expect.fail(text);
};

const namesIn = (runtime: Runtime): string[] => runtime.tools().map(({ name }) => name);

let originInstruction = "";

test("without plugins, exactly user-memory is loaded, and the host says what an origin is", async () => {
  await withRuntime({}, (runtime) => {
    originInstruction = ownWords(runtime.instructions());
    expect(originInstruction).toMatch(/^[^\n]*\bOrigin\b[^\n]*$/);
    expect(namesIn(runtime)).toEqual(modelTools(manifests.get("user-memory") as Manifest));
    expect(namesIn(runtime)).toContain("UpdateUserMemory");
    expect(runtime.families().map(({ name }) => name)).toEqual(["user-memory"]);
  });
});

test("each named plugin adds its own tools and instructions, in the order of the names", async () => {
  const names = shippedNames().toReversed();
  for (const plugins of [...names.map((name) => [name]), names]) {
    await withRuntime({ plugins }, (runtime) => {
      const loaded = plugins.map((name) => manifests.get(name) as Manifest);
      expect(namesIn(runtime)).toEqual(loaded.flatMap(modelTools));
      // A plugin without tools for models has none.
      const said = loaded.flatMap((each) => each.instructions ?? []);
      expect(said.length).toBe(loaded.filter((each) => modelTools(each).length > 0).length);
      expect(runtime.instructions()).toBe(said.length === 0 ? "" : [...said, originInstruction].join("\n"));
    });
  }
});

test("no plugin, or one that says nothing, has no instructions", async () => {
  await withRuntime({ plugins: [] }, (runtime) => expect([namesIn(runtime), runtime.instructions()]).toEqual([[], ""]));
  const plugins = [testPlugin("puppet"), shippedPlugin("journal")];
  await withRuntime({ plugins, policy: policyFor(plugins) }, (runtime) => {
    expect(runtime.instructions()).toBe(`${manifests.get("journal")?.instructions}\n${originInstruction}`);
  });
});

const hintOf = (plugin: string): string =>
  `The plugin "${plugin}" has it but is not loaded: add "${plugin}" to the option plugins of createRuntime, ` +
  `or --plugin ${plugin} on the command line, beside the other plugins`;

test("a tool for models that another plugin of the package has: the error is for the model, the hint for the program", async () => {
  await withRuntime({}, async (runtime) => {
    const before = namesIn(runtime);
    const result = await runtime.call("memory_write", {}, alice);
    expect(result).toEqual({
      ok: false,
      error: {
        code: "TOOL_UNKNOWN",
        message: `Cannot call "memory_write": no such tool, allowed: ${before.join(", ")}`,
        blame: "caller",
        retryable: false,
      },
      hint: hintOf("journal"),
    });
    expect(thrownBy(() => runtime.documentation("memory"))).toMatchObject({ hint: hintOf("stores") });
    expect(namesIn(runtime)).toEqual(before);
  });
});

test("the same for programs: by tool, by the plugin's name, by a family, and for the values of stores", async () => {
  await withRuntime({}, async (runtime) => {
    for (const tool of ["LoadRun", "run-history/LoadRun"])
      expect(await runtime.callAsHost(tool, {}, alice)).toMatchObject({ ok: false, hint: hintOf("run-history") });
    const history = new RunHistory(runtime, alice);
    const appended = history.append("planner", "run-1", [newEvent(undefined, plannerNoteData({ note: "x" }))]);
    await expect(appended).rejects.toThrow(hintOf("run-history"));
    const stores = runtime.stores(alice);
    for (const asked of [stores.clear("bob"), stores.getInternal(null, "k"), stores.setInternal(null, "k", 1)])
      await expect(asked).rejects.toMatchObject({ code: "TOOL_UNKNOWN", hint: hintOf("stores") });
    const family = "journal";
    for (const asked of [runtime.memoryIndex(alice, { family }), runtime.readEntry({ family, name: "a" }, alice)])
      await expect(asked).rejects.toMatchObject({ code: "TOOL_UNKNOWN", hint: hintOf("journal") });
  });
});

test("what no plugin has, what a model may not call, and what is no name has no hint", async () => {
  await withRuntime({}, async (runtime) => {
    const asked = ["Absent", "LoadRun", "__proto__", 7 as unknown as string].map((name) =>
      runtime.call(name, {}, alice),
    );
    for (const result of await Promise.all([...asked, runtime.callAsHost("ReadUserMemory", {}, alice)])) {
      expect(result).toMatchObject({ ok: false, error: { code: "TOOL_UNKNOWN" } });
      expect(result).not.toHaveProperty("hint");
    }
  });
});

test("a plugin that the policy does not name is not suggested: it would be refused", async () => {
  const policy = policyFor([shippedPlugin("user-memory")]);
  await withRuntime({ policy }, async (runtime) => {
    expect(await runtime.call("memory_write", {}, alice)).not.toHaveProperty("hint");
  });
});

function thrownBy(work: () => unknown): ToolError {
  try {
    work();
  } catch (error) {
    if (error instanceof ToolError) return error;
  }
  throw new Error("No ToolError was thrown");
}

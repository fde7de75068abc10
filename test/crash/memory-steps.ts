/** A tool call's changes to a user's files, made without the tool: facts, and an index with one line for each. */
import type { ChangeSet, UserId, UserReader } from "../stage/store.ts";
import { isEraseStep, takeEraseStep } from "./erase-steps.ts";
import type { EraseStep } from "./erase-steps.ts";
import { takeStoreStep } from "./store-steps.ts";
import type { StoreStep } from "./store-steps.ts";
import type { FileStore } from "./store-under-test.ts";

type Store = InstanceType<typeof FileStore>;

/** One call as plain data, so that it can be sent to other processes. */
export type Step =
  | { readonly kind: "upsert" | "mend"; readonly name: string; readonly text: string }
  | { readonly kind: "delete"; readonly name: string }
  | { readonly kind: "restore"; readonly name: string }
  /** A call that changes nothing, but finishes unfinished work. */
  | { readonly kind: "look" }
  | { readonly kind: "close" }
  | EraseStep
  | StoreStep;

export const userId = "alice" as UserId;
const scope = "memory";

export async function takeStep(store: Store, step: Step, waitMs = 30_000): Promise<void> {
  if (step.kind === "close") return store.close();
  const until = performance.now() + waitMs;
  if (isEraseStep(step)) return takeEraseStep(store, step, until);
  if (isStoreStep(step)) return takeStoreStep(store, step, until);
  const options = { writes: true, until };
  await store.hold(userId, options, async (held) => {
    using reader = store.openUser(userId);
    const changes = changesOf(step, reader);
    await held.commit(changes, reader.seen);
  });
}

const isStoreStep = (step: Step): step is StoreStep => step.kind.endsWith(" stores");

function changesOf(step: Exclude<Step, { kind: "close" } | StoreStep | EraseStep>, reader: UserReader): ChangeSet {
  if (step.kind === "look") return [];
  const path = `${step.name}.md`;
  const index = reader.read(scope, "MEMORY.md") ?? "";
  const others = index.split("\n").filter((line) => line !== "" && !line.startsWith(`- [${step.name}]`));
  const trashed = `trash/${step.name}.20260101T000000000Z.md`;
  const trash = { kind: "trash", scope, path, trashed } as const;
  if (step.kind === "delete") return [trash, indexOf(others)];
  const indexWith = (text: string): ChangeSet[number] => indexOf([...others, `- [${step.name}](${path}) ${text}`]);
  if (step.kind === "restore") {
    const indexed = indexWith((reader.read(scope, trashed) ?? "").trimEnd());
    return [{ kind: "restore", scope, path: trashed, restored: path }, indexed];
  }
  const write = { kind: "write", scope, path, content: `${step.text}\n` } as const;
  const indexed = indexWith(step.text);
  // A file that cannot be parsed is kept in the trash, and the entry is created again under the same path.
  return step.kind === "mend" ? [trash, write, indexed] : [write, indexed];
}

const indexOf = (lines: readonly string[]): ChangeSet[number] => ({
  kind: "write",
  scope,
  path: "MEMORY.md",
  content: lines.map((line) => `${line}\n`).join(""),
});

/** The differences between an index and its facts; empty if they agree. */
export function indexFaults(files: Readonly<Record<string, string>>): string[] {
  const lines = (files["memory/MEMORY.md"] ?? "").split("\n").filter((line) => line !== "");
  const facts = Object.entries(files)
    .filter(([path]) => /^memory\/[^/]+\.md$/.test(path) && path !== "memory/MEMORY.md")
    .map(([path, text]) => {
      const file = path.slice("memory/".length);
      return `- [${file.slice(0, -".md".length)}](${file}) ${text.trimEnd()}`;
    });
  const lacking = facts.filter((fact) => !lines.includes(fact)).map((fact) => `no line for the fact: ${fact}`);
  return [...lacking, ...lines.filter((line) => !facts.includes(line)).map((line) => `no fact for the line: ${line}`)];
}

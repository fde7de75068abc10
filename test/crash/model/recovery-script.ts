import type { Step } from "./play.ts";
import type { Tree } from "./tree.ts";
import { memoryIn } from "./user-tree.ts";

/** Random steps after a crash: a person may edit a file, then a process reads, and may write and close cleanly. */
export function recoveryScript(random: () => number, tree: Tree, depth: number): Step[] {
  const script: Step[] = [];
  const paths = Array.from(memoryIn(tree).keys()).filter((path) => !path.startsWith("trash/"));
  const path = paths[Math.floor(random() * paths.length)];
  const kind = random();
  const text = `Saved by hand after crash ${depth}, ${Math.floor(random() * 1e6)}.\n`;
  if (path !== undefined && kind < 0.25) script.push({ do: "edit", path, text });
  else if (path !== undefined && kind < 0.3) script.push({ do: "edit", path, text: null });
  else if (path !== undefined && kind < 0.35) script.push({ do: "edit", path: `by-hand-${depth}.md`, text });
  script.push({ do: "look" });
  if (random() < 0.4) script.push({ do: "upsert", name: `after-crash-${depth}`, body: "Still works." });
  if (random() < 0.2) script.push({ do: "close" }, { do: "look" });
  return script;
}

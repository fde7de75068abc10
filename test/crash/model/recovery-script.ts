import type { Step } from "../homes/step.ts";
import type { Subject } from "../homes/subject.ts";
import type { Tree } from "../homes/tree.ts";

/** Random steps after a crash: a person may edit a file, then a process reads, and may write and close cleanly. */
export function recoveryScript(subject: Subject, random: () => number, tree: Tree, depth: number): Step[] {
  const script: Step[] = [];
  const paths = Array.from(subject.filesIn(tree).keys()).filter((path) => !/(?:^|\/)trash\//.test(path));
  const path = subject.isEdited === false ? undefined : paths[Math.floor(random() * paths.length)];
  const kind = random();
  const text = `Saved by hand after crash ${depth}, ${Math.floor(random() * 1e6)}.\n`;
  if (path !== undefined && kind < 0.25) script.push({ do: "edit", path, text });
  else if (path !== undefined && kind < 0.3) script.push({ do: "edit", path, text: null });
  else if (path !== undefined && kind < 0.35)
    script.push({ do: "edit", path: subject.keyOf({ scope: "a", path: `by-hand-${depth}.md` }), text });
  const { homes = [] } = subject;
  while (homes.length > 0 && random() < 0.4) {
    const choice = random();
    const home = homes[Math.floor(choice * homes.length)] ?? "";
    script.push({ do: "look at one", home, writes: choice % 0.1 < 0.05 });
  }
  script.push({ do: "look" });
  if (random() < 0.4) script.push(subject.callAfterCrash(depth, (kind * 100) % 1));
  if (random() < 0.2) script.push({ do: "close" }, { do: "look" });
  return script;
}

/** Finds circular imports: between files, and between folders at the same level. */

export interface Arrow {
  /** Paths relative to the project's folder. */
  readonly from: string;
  readonly to: string;
}

/** Returns the first circle found, with its start repeated at the end, or `null` if there is none. */
export function circleIn(nodes: readonly string[], next: (node: string) => readonly string[]): string[] | null {
  const done = new Set<string>();
  const visit = (node: string, trail: readonly string[]): string[] | null => {
    if (trail.includes(node)) return [...trail.slice(trail.indexOf(node)), node];
    if (done.has(node)) return null;
    done.add(node);
    for (const to of next(node)) {
      const circle = visit(to, [...trail, node]);
      if (circle) return circle;
    }
    return null;
  };
  for (const node of nodes) {
    const circle = visit(node, []);
    if (circle) return circle;
  }
  return null;
}

/** Returns one circle for each level of the tree that has one, such as `host: store → values → store`. */
export function folderCircles(arrows: readonly Arrow[]): string[] {
  const levels = new Map<string, Map<string, Set<string>>>();
  for (const { from, to } of arrows) {
    const [above, nodes] = neighbours(from, to);
    if (nodes === null) continue;
    const level = levels.get(above) ?? new Map<string, Set<string>>();
    levels.set(above, level);
    level.set(nodes.from, (level.get(nodes.from) ?? new Set()).add(nodes.to));
  }
  return Array.from(levels).flatMap(([above, level]) => {
    const circle = circleIn([...level.keys()].toSorted(), (node) => [...(level.get(node) ?? [])].toSorted());
    return circle === null ? [] : [`${above}: ${circle.join(" → ")}`];
  });
}

/** The lowest folder that contains both paths, and the parts of both directly below it. `null` for a path to itself. */
function neighbours(from: string, to: string): [above: string, nodes: Arrow | null] {
  const [a, b] = [from.split("/"), to.split("/")];
  let depth = 0;
  while (depth < Math.min(a.length, b.length) - 1 && a[depth] === b[depth]) depth++;
  const [ofFrom = "", ofTo = ""] = [a[depth], b[depth]];
  return [a.slice(0, depth).join("/"), ofFrom === ofTo ? null : { from: ofFrom, to: ofTo }];
}

/** Finds circles of imports: between files, and between the folders that lie side by side. */

export interface Arrow {
  /** Paths from the project's folder. */
  readonly from: string;
  readonly to: string;
}

/** The first circle that is met, its beginning repeated at its end; `null` when there is none. */
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

/** A circle for each level of the tree that has one, such as `host: store → values → store`. */
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

/** The folder in which both paths lie, and what of each lies directly in it; `null` for a path to itself. */
function neighbours(from: string, to: string): [above: string, nodes: Arrow | null] {
  const [a, b] = [from.split("/"), to.split("/")];
  let depth = 0;
  while (depth < Math.min(a.length, b.length) - 1 && a[depth] === b[depth]) depth++;
  const [ofFrom = "", ofTo = ""] = [a[depth], b[depth]];
  return [a.slice(0, depth).join("/"), ofFrom === ofTo ? null : { from: ofFrom, to: ofTo }];
}

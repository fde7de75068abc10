import type { CopyWay, ToldHome } from "./copy-way.ts";

/** Copies which stores principals leave out. What a killed run has begun is completed: each counts for itself. */
export async function copyLeftStores({ from, to }: Pick<CopyWay, "from" | "to">): Promise<ToldHome[]> {
  const told: ToldHome[] = [];
  const there = await to.leftStores();
  for (const [principal, stores] of await from.leftStores()) {
    const present = there.get(principal) ?? [];
    const missing = stores.filter((store) => !present.includes(store));
    if (missing.length > 0) await to.leaveStores(principal, missing);
    const more = present.filter((store) => !stores.includes(store));
    if (more.length > 0) told.push({ home: `stores/${principal}`, told: "the target leaves out more stores" });
  }
  return told;
}

/** Does the work on each item, two items at a time: most machines that run the tests have two cores. */
export async function twoAtATime<Item>(
  items: readonly Item[],
  work: (item: Item, at: number) => Promise<void>,
): Promise<void> {
  const left = items.entries();
  const takeTurns = async (): Promise<void> => {
    for (const [at, item] of left) await work(item, at);
  };
  await Promise.all([takeTurns(), takeTurns()]);
}

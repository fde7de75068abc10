/** A process that has nothing else to do lets a store look for what is left over, and closes it at once. */
import { DiskRoot, openFiles } from "../store-under-test.ts";

const store = openFiles(new DiskRoot(process.argv[2] ?? ""), { durability: "full", note: () => {} });

process.once("beforeExit", () => void close());

async function close(): Promise<void> {
  void store.retireLeftOver();
  await store.close();
  process.stdout.write("closed\n");
}

import { DiskRoot, FileStore } from "../crash/store-under-test.ts";
/** A process that edits shared stores together with another one; `shared-stores.slow.test.ts` starts it. */
import { seededRandom } from "../support/seeded-random.ts";
import { shareStores } from "./store-sharer.ts";
import type { SharerReport } from "./store-sharer.ts";

const [dataDir = "", id = "", sharersCount = "0", editsCount = "0"] = process.argv.slice(2);

const notes: string[] = [];
const note = (owner: string, text: string): void => void notes.push(`${owner}: ${text}`);
const store = new FileStore(new DiskRoot(dataDir), { durability: "full", note });
process.send?.("ready");
await new Promise((resolve) => process.once("message", resolve));
const sharers = Array.from({ length: Number(sharersCount) }, (_, at) => {
  const name = `${id}${String.fromCharCode(97 + at)}`;
  return shareStores(store.shared, name, Number(editsCount), seededRandom(at + name.length * 1_000 + Number(id) * 77));
});
const reports: SharerReport[] = await Promise.all(sharers);
await store.close();
process.send?.({ reports, notes }, () => process.disconnect());

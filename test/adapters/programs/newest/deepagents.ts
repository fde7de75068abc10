/** The files of deepagents' StoreBackend in a user's store. */
import { StoreBackend } from "deepagents";
import { createRuntime, memoryStore } from "memcell";
import { memcellStore } from "memcell/langgraph";

await using runtime = await createRuntime({ store: memoryStore(), plugins: ["stores"] });
const store = memcellStore(runtime, { userId: "alice" });
const backend = new StoreBackend({ store, namespace: ["filesystem"] });

const answers = {
  written: await backend.write("/notes/a.md", "one\ntwo\n"),
  edited: await backend.edit("/notes/a.md", "two", "three"),
  read: await backend.read("/notes/a.md"),
  listed: await backend.ls("/notes/"),
  found: await backend.grep("three"),
  uploaded: await backend.uploadFiles([["/notes/a.png", new Uint8Array([0, 255, 10])]]),
  downloaded: (await backend.downloadFiles(["/notes/a.png"])).map(({ content }) => Array.from(content ?? [])),
  missing: await backend.read("/notes/b.md"),
  others: await memcellStore(runtime, { userId: "bob" }).search(["filesystem"]),
};
console.log(JSON.stringify(answers));

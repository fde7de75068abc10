/** A call's folders are open while its guest runs, and a thread can be killed at any instant. */
import { once } from "node:events";
import { Worker } from "node:worker_threads";

import { expect, test } from "vitest";

import { openDescriptors } from "../support/open-descriptors.ts";
import { skipWithReason } from "../support/skip-with-reason.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { writeUserFiles } from "../support/user-files.ts";

const endlessCall = `
  import { parentPort, workerData } from "node:worker_threads";
  const { openReaders } = await import(workerData.store);
  const reader = openReaders({ kind: "files", dir: workerData.dataDir, mounts: [] }).open("alice");
  reader.read("memory", "a.md");
  parentPort.postMessage("read");
  for (;;);
`;

test("a thread that is killed in the middle of a call leaves nothing open", async (context) => {
  if (process.platform !== "linux") skipWithReason(context, "what is open can be seen on Linux only");
  using folder = temporaryFolder();
  writeUserFiles(folder.path, { alice: { "memory/a.md": "x" } });
  const store = new URL("../../dist/host/store/open-readers.js", import.meta.url).href;
  const thread = new Worker(new URL(`data:text/javascript,${encodeURIComponent(endlessCall)}`), {
    workerData: { store, dataDir: folder.path },
  });
  await once(thread, "message");
  expect(openDescriptors(folder.path)).not.toEqual([]);
  await thread.terminate();
  expect(openDescriptors(folder.path)).toEqual([]);
});

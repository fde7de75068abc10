/** A thread opens a folder by another thread's descriptor. The system uses closed descriptors again, for any folder. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";
import type { TestContext } from "vitest";

import { handleKindHere, openHandedFolder, openRootFolder } from "../../host/disk/folder-handle.ts";
import type { HandedFolder } from "../../host/disk/folder-handle.ts";
import { skipWithReason } from "../support/skip-with-reason.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

function needsDescriptors(context: TestContext): void {
  if (handleKindHere !== "descriptor") skipWithReason(context, "only Linux names open folders by descriptor");
}

/** Two users' folders. */
function stageOf(folder: string): [alice: string, bob: string] {
  const paths = [join(folder, "alice"), join(folder, "bob")] as [string, string];
  for (const path of paths) mkdirSync(path);
  return paths;
}

function handed(path: string): HandedFolder {
  using folder = openRootFolder(path, "descriptor");
  return { descriptor: folder.descriptor, identity: folder.identity };
}

test("an open folder is opened", (context) => {
  needsDescriptors(context);
  using folder = temporaryFolder();
  const [alice] = stageOf(folder.path);
  using open = openRootFolder(alice, "descriptor");
  using again = openHandedFolder(open);
  expect(again?.identity).toBe(open.identity);
  expect(again?.descriptor).not.toBe(open.descriptor);
});

test("a closed descriptor leads nowhere, also when it is another user's folder by now", (context) => {
  needsDescriptors(context);
  using folder = temporaryFolder();
  const [alice, bob] = stageOf(folder.path);
  const closed = handed(alice);
  expect(openHandedFolder(closed)).toBeNull();
  using other = openRootFolder(bob, "descriptor");
  expect(other.descriptor).toBe(closed.descriptor);
  expect(openHandedFolder(closed)).toBeNull();
});

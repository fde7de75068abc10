/** Pulls of notes, as the clients send them. */
import { expect } from "vitest";

import { notesPath } from "./stage.ts";
import type { StorageClient } from "./stage.ts";

export interface Page {
  readonly lines: readonly {
    readonly op: string;
    readonly key: string;
    readonly at: string;
    readonly content?: string;
  }[];
  readonly cursor: string | null;
  readonly more: boolean;
}

export async function pull(client: StorageClient, namespace: string, since: string | null): Promise<Page> {
  const from = since === null ? "" : `&since=${encodeURIComponent(since)}`;
  const { status, body } = await client("GET", `${notesPath}?action=sync&namespace=${namespace}${from}`);
  expect(status).toBe(200);
  return body as Page;
}

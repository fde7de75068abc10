/** Answers with entries say where they come from. */
import type { OriginClass } from "memcell";
import { expect, test } from "vitest";

import { trustingPolicy } from "../../support/trusting-policy.ts";
import { entriesPath, notesPath, openStorageStage, weather } from "./stage.ts";
import type { StorageClient } from "./stage.ts";

const policy = trustingPolicy({ active: "untrusted_document" });

/** What the entries of an answer come from, and its fields. */
async function told(client: StorageClient, path: string): Promise<[fields: string[], origins: string[] | null]> {
  const { status, body } = await client("GET", path);
  expect(status).toBe(200);
  const { origins, ...fields } = body as { origins?: { name: string; trust: OriginClass }[] };
  return [Object.keys(fields), origins?.map(({ name, trust }) => `${name} ${trust}`) ?? null];
}

test.for(["tool_external", "direct_user"] as const)("what is %s", async (originClass) => {
  await using stage = await openStorageStage({ internalValues: true }, { originClass, runtime: { policy } });
  const client = stage.as(weather);
  const isOwn = originClass === "direct_user";
  const from = (path: string): string[] | null => (isOwn ? null : [`${path} ${originClass}`]);
  const ok = { status: 200, body: { ok: true, key: "page.md", storeId: weather } };
  expect(await client("PUT", `${entriesPath}/page.md`, { value: "soup" })).toEqual(ok);
  // A write shows nothing.
  expect(await client("PUT", `${entriesPath}/page.md`, { value: "soups" })).toEqual(ok);
  expect((await told(client, `${entriesPath}/page.md`))[1]).toEqual(from("page.md"));
  expect(await told(client, entriesPath)).toEqual([["entries"], from("page.md")]);
  expect(await told(client, `${entriesPath}?action=search&q=soups`)).toEqual([["entries"], from("page.md")]);
  const note = { namespace: "shared", key: "menu", content: "soup" };
  expect(Object.keys((await client("PUT", notesPath, note)).body as object)).toEqual(["entry"]);
  const file = "_.ns/shared/menu_.md";
  for (const asked of ["action=list", "action=search&q=soup", "action=get&namespace=shared&key=menu"]) {
    expect((await told(client, `${notesPath}?${asked}`))[1]).toEqual(from(file));
  }
  const page = await told(client, `${notesPath}?action=sync&namespace=shared`);
  expect(page[1]).toEqual(from(file));
  const secret = { value: "x", inContext: false };
  expect(await client("PUT", `${entriesPath}/secret`, secret)).toMatchObject({ status: 200 });
  const headers = { authorization: `Bearer ${await stage.issuer.token(weather)}` };
  const { body } = await stage.ask({ method: "GET", path: `/api/storage/${entriesPath}/secret`, headers });
  expect(JSON.parse(body)).toEqual({ key: "secret", storeId: weather, value: "x" });
});

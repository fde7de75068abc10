/** A hold that commits twice, while another host commits in between. */
import { postgresStore } from "memcell";
import { expect, test } from "vitest";

import type { Store } from "../../stage/store.ts";
import { freshDatabase } from "../../support/postgres/fresh-database.ts";
import { write } from "../store-stage.ts";
import { alice, soon } from "./fault-server.ts";

const open = (url: string): Store => postgresStore({ url }).open(() => {});

test("the second change set follows what the other host has committed", async () => {
  const url = await freshDatabase();
  const [one, other] = [open(url), open(url)];
  await one.hold(alice, soon(), async (held) => {
    await held.commit([write("a.md", "a")], []);
    await other.hold(alice, soon(), (theirs) => theirs.commit([write("b.md", "b")], []));
    await held.commit([write("c.md", "c")], []);
  });
  await other.hold(alice, soon(), async (held) => {
    expect((await held.history.versions()).map(({ seq }) => seq)).toEqual([1, 2, 3]);
    expect(await held.findings()).toEqual([]);
  });
  await Promise.all([one.close(), other.close()]);
});

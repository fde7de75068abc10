/** The published JSON Schema says what the host checks. After a change, `npx vitest run -u` with this file writes it. */
import { expect, test } from "vitest";

import { configSchema } from "../../host/config/config-schema.ts";

test("config.schema.json is made of the table of settings", async () => {
  await expect(`${JSON.stringify(configSchema(), null, 2)}\n`).toMatchFileSnapshot(
    "../../host/config/config.schema.json",
  );
});

/** Many calls at once, of many users. */
import { createRuntime } from "memcell";
import { expect, test } from "vitest";

import { temporaryFolder } from "../support/temporary-folder.ts";
import { readUserFiles } from "../support/user-files.ts";

test("100 users with 20 concurrent calls each have whole files and correct indexes", async () => {
  using folder = temporaryFolder();
  await using runtime = await createRuntime({ dataDir: folder.path, queuedCallsMax: 2000 });
  const users = Array.from({ length: 100 }, (_, user) => `user-${user}`);
  const calls = users.flatMap((userId) =>
    Array.from({ length: 20 }, (_, count) => {
      const name = `e${count % 5}`;
      const input = {
        action: "upsert",
        name,
        type: "user",
        description: `${userId} ${count}`,
        body: `${userId}\n`.repeat(50),
      };
      return runtime.call("UpdateUserMemory", input, { userId });
    }),
  );
  for (const result of await Promise.all(calls)) expect(result).toMatchObject({ ok: true });
  for (const userId of users) {
    const files = readUserFiles(folder.path, userId);
    const lines = [15, 16, 17, 18, 19].map(
      (count) => `- [e${count - 15}](e${count - 15}.md) \u2014 ${userId} ${count}\n`,
    );
    expect(files["memory/MEMORY.md"]).toBe(lines.join(""));
    expect(Object.keys(files)).toHaveLength(6);
    for (const count of [0, 1, 2, 3, 4])
      expect(files[`memory/e${count}.md`]).toContain(`---\n${`${userId}\n`.repeat(50)}`);
  }
});

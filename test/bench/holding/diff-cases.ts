/** Comparisons of texts. */
import { seededRandom } from "../../support/seeded-random.ts";
import { alice, dayFile, expectOk, inHome, kib, put } from "./hold-case.ts";
import type { CaseGroup } from "./hold-case.ts";

/** Two texts of which every line is in both, in another order: the most work for a comparison. */
function shuffled(seed: number, bytes: number): [string, string] {
  const random = seededRandom(seed);
  const letters = Array.from({ length: bytes / 2 }, () => "ab"[Math.floor(random() * 2)] ?? "");
  return [
    letters.join("\n"),
    letters.map((letter) => (random() < 0.5 ? letter : "ab"[Math.floor(random() * 2)])).join("\n"),
  ];
}

const entry = (body: string) => ({ action: "upsert", name: "twice", type: "user", description: "Twice", body });

export const diffs: CaseGroup = {
  plugins: ["user-memory", "journal"],
  prepareAll: async (stage) => {
    const { runtime } = stage;
    for (const body of shuffled(1, 64 * kib)) await expectOk(runtime.call("UpdateUserMemory", entry(body), alice));
    await expectOk(runtime.call("memory_write", { key: "first", content: "x" }, alice));
    for (const text of shuffled(2, 1_024 * kib)) {
      put(inHome(stage, dayFile), text);
      await expectOk(
        runtime.call(
          "memory_write",
          { key: `after-${text.length}-${text.slice(0, 64)}`.replaceAll("\n", ""), content: "x" },
          alice,
        ),
      );
    }
  },
  cases: [
    {
      key: "diff-entry",
      name: "compare two hostile texts of 64 KiB",
      prepare: async ({ runtime }) => {
        const versions = (await runtime.upkeep.history(alice, { scope: "memory", path: "twice.md" })).toReversed();
        return () => runtime.upkeep.diff(alice, "twice.md", { from: versions[0]?.seq ?? 0, to: versions[1]?.seq ?? 0 });
      },
    },
    {
      key: "diff-large",
      name: "compare two hostile texts of 1 MiB",
      prepare: async ({ runtime }) => {
        const versions = (await runtime.upkeep.history(alice, { scope: "journal" })).toReversed();
        const path = versions[0]?.path ?? "";
        const edited = versions.filter(({ kind }) => kind === "edited");
        return () => runtime.upkeep.diff(alice, path, { from: edited[0]?.seq ?? 0, to: edited[1]?.seq ?? 0 });
      },
    },
  ],
};

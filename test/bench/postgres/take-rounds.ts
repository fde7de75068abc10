import type { Contestant } from "./contestants.ts";

const [entries, opsOfRound] = [40, 40] as const;

/** The median milliseconds of an upsert and of a read, by contestant. Rounds are interleaved; the first two warm up. */
export async function takeRounds(
  contestants: readonly Contestant[],
  rounds: number,
): Promise<Map<string, { upsertMs: number; readMs: number }>> {
  const times = new Map(contestants.map(({ name }) => [name, { upserts: [] as number[], reads: [] as number[] }]));
  for (let round = -2; round < rounds; round++) {
    for (const contestant of round % 2 === 0 ? contestants : contestants.toReversed()) {
      const upsertMs = await perOp((at) => contestant.upsert(at % entries, round));
      const readMs = await perOp((at) => contestant.read(at % entries));
      if (round < 0) continue;
      times.get(contestant.name)?.upserts.push(upsertMs);
      times.get(contestant.name)?.reads.push(readMs);
    }
  }
  return new Map(
    Array.from(times, ([name, { upserts, reads }]) => [name, { upsertMs: median(upserts), readMs: median(reads) }]),
  );
}

async function perOp(operation: (at: number) => Promise<void>): Promise<number> {
  const beganMs = performance.now();
  for (let at = 0; at < opsOfRound; at++) await operation(at);
  return (performance.now() - beganMs) / opsOfRound;
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

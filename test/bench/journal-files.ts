const blocksCount = 10_000;
const days = 365;
const dayMs = 24 * 60 * 60 * 1000;

/**
 * A journal of 10,000 blocks, some 200 bytes each, in the daily files of a year. Every block has "common", twenty have
 * "needle"; `word` is in every one.
 */
export function journalFiles(word: string): Record<string, string> {
  const firstOf = (day: number): number => Math.round((day * blocksCount) / days);
  const files = Array.from({ length: days }, (_, day): [string, string] => {
    const date = new Date(Date.UTC(2026, 0, 1) + day * dayMs).toISOString().slice(0, 10);
    const [first, end] = [firstOf(day), firstOf(day + 1)];
    const blocks = Array.from({ length: end - first }, (_block, at) => blockOf(first + at, date, word));
    return [`journal/${date.replaceAll("-", "/")}.md`, blocks.join("")];
  });
  return Object.fromEntries(files);
}

function blockOf(at: number, date: string, word: string): string {
  const text = `The ${word} of number ${at} is a ${at % 500 === 7 ? "needle" : "straw"} Common; it was cut from the branch by the team.`;
  const time = `${date}T${twoDigits(at % 24)}:00:${twoDigits(at % 60)}+00:00`;
  const meta = `<!-- agentool-memory: at=${time} tags=ops|t${at % 100} -->`;
  return `### topic-${at}\n\n${text}\nSee OPS-${at}.\n\n${meta}\n\n`;
}

const twoDigits = (value: number): string => `${value}`.padStart(2, "0");

/** A strict reader of Prometheus' text format 0.0.4. */

export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface Scrape {
  readonly types: ReadonlyMap<string, string>;
  readonly samples: readonly Sample[];
}

const name = "[a-zA-Z_:][a-zA-Z0-9_:]*";
const label = `${name}="(?:[^"\\\\\\n]|\\\\[\\\\"n])*"`;
const sampleLine = new RegExp(`^(${name})(?:\\{((?:${label},?)*)\\})? (\\S+)$`);
const comments = new RegExp(`^# (?:HELP (${name}) .+|TYPE (${name}) (counter|gauge|histogram)|UNIT (${name}) \\S+)$`);

/** Throws for a line that does not have the format. */
export function readPrometheus(text: string): Scrape {
  if (!text.endsWith("\n")) throw new Error("The text does not end in a line feed");
  const types = new Map<string, string>();
  const samples: Sample[] = [];
  for (const line of text.slice(0, -1).split("\n")) {
    const comment = comments.exec(line);
    if (comment?.[2] !== undefined) {
      if (types.has(comment[2])) throw new Error(`Two types: ${line}`);
      types.set(comment[2], comment[3] ?? "");
    }
    if (comment) continue;
    const [, of = "", labels = "", value = ""] = sampleLine.exec(line) ?? [];
    const read = value === "+Inf" ? Infinity : Number(value);
    if (of === "" || value === "" || Number.isNaN(read)) throw new Error(`Not in the format: ${line}`);
    const pairs = Array.from(labels.matchAll(new RegExp(`(${name})="((?:[^"\\\\]|\\\\.)*)"`, "g")), (pair) => [
      pair[1] ?? "",
      pair[2] ?? "",
    ]);
    samples.push({ name: of, labels: Object.fromEntries(pairs) as Record<string, string>, value: read });
  }
  for (const { name: of } of samples) {
    const family = types.has(of) ? of : of.replace(/_(bucket|sum|count)$/, "");
    if (!types.has(family)) throw new Error(`No type: ${of}`);
  }
  return { types, samples };
}

/** The sum of the samples that have these labels. */
export function valueOf({ samples }: Scrape, of: string, labels: Readonly<Record<string, string>> = {}): number {
  const fits = (sample: Sample): boolean =>
    sample.name === of && Object.entries(labels).every(([key, value]) => sample.labels[key] === value);
  return samples.filter(fits).reduce((sum, { value }) => sum + value, 0);
}

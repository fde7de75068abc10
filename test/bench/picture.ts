/** Draws results as horizontal bars, in one SVG without external fonts, scripts or styles. */
import { groupsOf } from "./picture-groups.ts";
import type { Bar, BarGroup } from "./picture-groups.ts";
import { shown } from "./print-results.ts";
import type { Results } from "./results.ts";

const width = 700;
const margin = 20;
const barsX = 300;
/** The figures have their own column at the right, beyond bars and marks. */
const barsWidth = width - barsX - 105;
const rowHeight = 22;
const headHeight = 52;
const groupGap = 14;

export function drawResults(results: Results): string {
  const parts: string[] = [];
  let y = margin;
  for (const group of groupsOf(results)) {
    parts.push(drawGroup(group, y));
    y += headHeight + group.bars.length * rowHeight + groupGap;
  }
  const { cores, cpu, node, fileSystem } = results.machine;
  const footer = [
    `${cores} cores (${cpu}), Node ${node}, ${fileSystem}; ${results.rounds} rounds. Thin lines: the range of the rounds.`,
    ...results.noise.map(
      ({ name, spread: [low, high] }) => `Noise of the machine: ${name}, ${shown(low)}–${shown(high)} ms`,
    ),
  ];
  parts.push(...footer.map((line, row) => textAt(margin, y + 6 + row * 16, "faint", line)));
  return frame(y + 6 + footer.length * 16, parts);
}

function frame(height: number, parts: readonly string[]): string {
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="title desc">`,
    `<title id="title">memcell, measured</title>`,
    `<desc id="desc">Bars with what a durable upsert takes against the naive way and against peers, what the sandbox adds, the throughput of many users, and the growth of a folder. The figures are in bench.json.</desc>`,
    `<style>${style}</style>`,
    `<rect class="page" x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="8"/>`,
    ...parts,
    "</svg>",
    "",
  ].join("\n");
}

function drawGroup({ title, unit, bars, mark }: BarGroup, top: number): string {
  const most = Math.max(mark.value, ...bars.flatMap(({ value, spread }) => [value, ...spread]));
  const scale = (value: number): number => (Math.min(Math.max(value, 0), most) / most) * barsWidth;
  const firstRow = top + headHeight;
  const markX = round(barsX + scale(mark.value));
  const anchor = markX > width - 150 ? "end" : "start";
  return [
    textAt(margin, top + 18, "title", title),
    textAt(anchor === "end" ? markX + 4 : markX - 4, firstRow - 12, `mark-text ${anchor}`, mark.text),
    ...bars.map((bar, row) => drawBar(bar, { y: firstRow + row * rowHeight, unit, scale })),
    `<line class="mark" x1="${markX}" x2="${markX}" y1="${firstRow - 7}" y2="${firstRow + bars.length * rowHeight - 2}"/>`,
  ].join("\n");
}

interface Row {
  readonly y: number;
  readonly unit: string;
  readonly scale: (value: number) => number;
}

function drawBar({ label, value, spread, isOurs }: Bar, { y, unit, scale }: Row): string {
  const [low, high] = spread.map(scale);
  const length = Math.max(1, scale(value));
  const middle = y + 8;
  return [
    textAt(barsX - 10, y + 12, "label end", label),
    `<rect class="${isOurs ? "ours" : "theirs"}" x="${barsX}" y="${y}" width="${round(length)}" height="16" rx="2"/>`,
    `<line class="spread" x1="${round(barsX + (low ?? 0))}" x2="${round(barsX + (high ?? 0))}" y1="${middle}" y2="${middle}"/>`,
    textAt(width - margin, y + 12, "value end", `${shown(value)} ${unit}`),
  ].join("\n");
}

function textAt(x: number, y: number, classes: string, text: string): string {
  return `<text class="${classes}" x="${x}" y="${y}">${escaped(text)}</text>`;
}

const round = (value: number): number => Math.round(value * 10) / 10;

const escaped = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");

const style = `
text { font: 12.5px system-ui, sans-serif; fill: #1f2328; }
.page { fill: #ffffff; stroke: #d1d9e0; }
.title { font-weight: 600; font-size: 14px; }
.end { text-anchor: end; }
.faint, .mark-text { font-size: 11px; fill: #59636e; }
.value { font-variant-numeric: tabular-nums; }
.ours { fill: #0969da; }
.theirs { fill: #9aa4af; }
.spread { stroke: #1f2328; stroke-opacity: .7; stroke-width: 2; }
.mark { stroke: #bc4c00; stroke-width: 1.25; stroke-dasharray: 3 3; }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3; }
  .page { fill: #0d1117; stroke: #3d444d; }
  .faint, .mark-text { fill: #9198a1; }
  .ours { fill: #4493f8; }
  .theirs { fill: #656c76; }
  .spread { stroke: #e6edf3; }
  .mark { stroke: #f0883e; }
}
`;

/** The journal's parts that need no guest: blocks as agentool reads them, times, case folding. */
import { describe, expect, test } from "vitest";

import { foldCase } from "../../plugin/caseless.ts";
import { compareTimes, formatAt, parseAt, readAt } from "../../plugin/journal/at-time.ts";
import { appendBlock } from "../../plugin/journal/block.ts";
import { cutBlocks, portionsOf } from "../../plugin/journal/cut-blocks.ts";
import { isSurelyOlder } from "../../plugin/journal/newest-in.ts";
import { StoredBlock } from "../../plugin/journal/stored-block.ts";
import { trim, trimEnd } from "../../plugin/journal/white-space.ts";

const meta = "<!-- agentool-memory: at=2026-01-02T03:04:05+00:00 tags=a|b -->";

const said = (file: string): unknown[] =>
  portionsOf(file)
    .flatMap(({ text }) => cutBlocks(text).slice(1))
    .map((text) => new StoredBlock(text))
    .filter(({ key }) => key !== "")
    .map(({ key, content, footer, tags }) => [key, content, footer.at, tags.join("|")]);

test("a block has the same bytes as agentool's", () => {
  const block = {
    key: "k1",
    content: "  hello \n\n",
    tags: ["a", "b"],
    at: "2026-01-02T03:04:05+00:00",
    created: null,
  };
  expect(appendBlock("", block)).toBe(`### k1\n\n  hello\n\n${meta}\n\n`);
  expect(appendBlock("# Mine", { ...block, content: "" })).toBe(`# Mine\n### k1\n\n\n\n${meta}\n\n`);
});

describe("a file's blocks", () => {
  const at = "2026-01-02T03:04:05+00:00";
  test.for([
    { name: "no heading", file: "#### a\n## b\n###c\n###\td\n ### e\n", blocks: [] },
    { name: "a byte order mark before the hashes", file: "\ufeff### a\nb\n", blocks: [["a", "b", "", ""]] },
    {
      name: "a blank key, which ends the block before",
      file: `### a\nb\n###  \n${meta}\n`,
      blocks: [["a", "b", "", ""]],
    },
    {
      name: "no meta up to the next heading",
      file: "### a\n\nb\n## c\n### d",
      blocks: [
        ["a", "b\n## c", "", ""],
        ["d", "", "", ""],
      ],
    },
    { name: "CRLF", file: `### a\r\n\r\nb\r\nc\r\n${meta}\r\n`, blocks: [["a", "b\nc", at, "a|b"]] },
    {
      name: "a malformed meta line, which ends it",
      file: "### a\nb\n<!-- agentool-memory: x -->\nc\n",
      blocks: [["a", "b", "", ""]],
    },
    { name: "white space before a meta line", file: `### a\nb\n \u0085${meta}\nc`, blocks: [["a", "b", at, "a|b"]] },
    {
      name: "a meta line's mark inside a line",
      file: `### a\nb ${meta}\nc\n`,
      blocks: [["a", `b ${meta}\nc`, "", ""]],
    },
    {
      name: "a code fence, which has no meaning",
      file: "### a\n```\n### b\n```\n",
      blocks: [
        ["a", "```", "", ""],
        ["b", "```", "", ""],
      ],
    },
    {
      name: "tags with spaces and empty ones",
      file: "### a\n<!-- agentool-memory: at= tags= x ||y -->",
      blocks: [["a", "", "", "x|y"]],
    },
    { name: "an escape without its mark", file: `### a\n\\### b\n${meta}\n`, blocks: [["a", "\\### b", at, "a|b"]] },
    {
      name: "an escape with its mark",
      file: `### a\n\\### b\n${meta}\n<!-- memcell: escaped -->\n`,
      blocks: [["a", "### b", at, "a|b"]],
    },
    {
      name: "a mark behind an empty line",
      file: `### a\n\\### b\n${meta}\n\n<!-- memcell: escaped -->\n`,
      blocks: [["a", "\\### b", at, "a|b"]],
    },
  ])("$name", ({ file, blocks }) => {
    expect(said(file)).toEqual(blocks);
  });

  test("are the same in a file that is split into portions", () => {
    const file = `# Mine\n${Array.from({ length: 5000 }, (_, nth) => `### k${nth}\n\n${"x".repeat(50)}\n\n`).join("")}`;
    expect(portionsOf(file).length).toBeGreaterThan(3);
    expect(
      portionsOf(file).map(({ start, text }) => file.slice(start, start + text.length - 1) === text.slice(1)),
    ).not.toContain(false);
    expect(said(file)).toHaveLength(5000);
  });
});

describe("times", () => {
  test("are written as agentool writes them", () => {
    expect(formatAt("2026-01-02T03:04:05.000Z")).toBe("2026-01-02T03:04:05+00:00");
    expect(formatAt("2026-01-02T03:04:05.120Z")).toBe("2026-01-02T03:04:05.120+00:00");
  });

  test.for([
    ["2026-01-02T03:04:05Z", "2026-01-02T12:04:05+09:00"],
    ["2026-01-02t03:04:05z", "2026-01-02 03:04:05.000+00:00"],
    ["2026-04", "2026-04-01T00:00:00Z"],
    ["2099", "2099-01-01"],
    ["2026-01-01T23:59:60Z", "2026-01-02T00:00:00Z"],
    ["yesterday", ""],
    ["2026-02-30T00:00:00Z", "1970-01-01"],
  ])("%s is %s", ([one = "", other = ""]) => {
    expect(compareTimes(readAt(one), readAt(other))).toBe(0);
  });

  test("are compared to the nanosecond", () => {
    const [older, newer] = ["2026-01-02T03:04:05.123456788Z", "2026-01-02T03:04:05.123456789Z"].map((at) => readAt(at));
    expect(older && newer && compareTimes(older, newer)).toBeLessThan(0);
    expect(parseAt("2026-01-02T24:00:00Z")).toBeNull();
  });

  test.for([
    { at: "2026-01-02T03:04:05+00:00", isOlder: true },
    { at: "", isOlder: false },
    { at: " 2099-01-01", isOlder: false },
    { at: "2026-01-09T23:00:00-23:00", isOlder: false },
    { at: "2099", isOlder: false },
  ])("skips a text with $at only if it is certainly older", ({ at, isOlder }) => {
    expect(isSurelyOlder(`### a\n<!-- agentool-memory: at=${at} -->\n`, readAt("2026-01-10T12:00:00Z"))).toBe(isOlder);
  });
});

test.for([
  ["straße", "STRASSE"],
  ["ΟΔΟΣ", "οδος"],
  ["οδός", "ΟΔΌΣ"],
  ["ﬁn", "FIN"],
  ["ŉ", "ʼN"],
  ["\u212a", "k"],
  ["ſ", "S"],
])("%s and %s are equal without case", ([one = "", other = ""]) => {
  expect(foldCase(one)).toBe(foldCase(other));
});

test("white space is what Unicode defines", () => {
  expect(trim("\u0085\u3000 a \u2028\t")).toBe("a");
  expect(trim("\ufeffa\u200b")).toBe("\ufeffa\u200b");
  expect(trimEnd(" a\u0085")).toBe(" a");
  for (let unit = 0; unit < 0x10000; unit++) {
    const character = String.fromCharCode(unit);
    if ((trim(character) === "") !== /\p{White_Space}/u.test(character)) expect.fail(`U+${unit.toString(16)}`);
  }
});

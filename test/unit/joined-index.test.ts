/** Joins the indexes of many families into one text, within its bounds, whatever a family does. */
import { expect, test } from "vitest";

import { trustDefaults } from "../../host/plugins/policy/policy.ts";
import { familyFiles } from "../../host/plugins/tools.ts";
import type { CatalogTool } from "../../host/plugins/tools.ts";
import { joinedIndex } from "../../host/runtime/family-memory.ts";
import { leaveOutOf } from "../../host/runtime/leave-out.ts";
import { readContext } from "../../host/values/call-context.ts";
import type { ErrorCode } from "../../shared/errors.ts";
import { ToolError } from "../stage/store.ts";
import { guestManifest } from "../support/guest-manifest.ts";

/** A family's answer: a framed text with at most `linesMax` lines, or a failure. */
type Tell = (linesMax: number) => string;

const framed: Tell = (linesMax) => `<frame>\n${"x\n".repeat(Math.max(0, Math.min(linesMax, 6)))}</frame>\n`;
/** Ignores the limit. */
const stubborn: Tell = () => framed(6);
const failing =
  (code: ErrorCode): Tell =>
  () => {
    throw new ToolError(code, "words of a guest");
  };

/** Fails when it is called with a lower limit. */
const once: Tell = (linesMax) => (linesMax === 200 ? "x\n".repeat(200) : failing("GUEST_TRAPPED")(linesMax));

const log: string[] = [];

function indexOf(tells: readonly Tell[]): Promise<string> {
  const tools = tells.map((_, at): CatalogTool => {
    const [tool] = guestManifest(`f${at}`, { [`Index${at}`]: "index" }).tools;
    if (tool === undefined) throw new Error("A manifest without a tool");
    return { tool, family: `f${at}`, moduleIndex: at, trust: trustDefaults, files: familyFiles({ tools: [] }) };
  });
  const leaveOut = leaveOutOf(
    tools,
    readContext({ userId: "alice", callId: "one" }),
    ({ level, tool, userId, callId, text }) => log.push(`${level} ${tool} ${userId} ${callId} ${text}`),
  );
  const ask = async ({ moduleIndex }: CatalogTool, { linesMax = 200 }) => {
    const text = tells[moduleIndex]?.(linesMax) ?? "";
    return { text, origins: [] };
  };
  return joinedIndex(tools, ask, leaveOut);
}

/** Counts lines with every line ending that Unicode has. */
const linesOf = (text: string): number => text.split(/\r\n|[\n\r\v\f\u0085\u2028\u2029]/).length - 1;

test.for<readonly [name: string, tells: readonly Tell[]]>([
  ["30 families of 8 lines", Array(30).fill(stubborn)],
  ["30 families of 1,000 bytes in a line", Array(30).fill(() => `${"x".repeat(1_000)}\n`)],
  ["300 families that fail", [framed, ...(Array(300).fill(failing("GUEST_TRAPPED")) as Tell[])]],
])("%s take at most 200 lines and 25,000 bytes, and the last line counts the others", async ([, tells]) => {
  const text = await indexOf(tells);
  expect(linesOf(text)).toBeLessThanOrEqual(200);
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(25_000);
  expect(text).toMatch(/\n\(\d+ more indexes are not shown\)\n$/);
});

test("unusual line endings are replaced with spaces", async () => {
  for (const end of ["\r", "\u2028", "\u2029", "\u0085", "\v", "\f"]) {
    expect(await indexOf([() => `a${end}`.repeat(3)])).toBe("a a a ");
    const text = await indexOf([() => `${`a${end}`.repeat(5_000)}\r\n`, framed]);
    expect(linesOf(text)).toBe(1 + 8);
  }
});

test.for<readonly [code: ErrorCode, level: string]>([
  ["ENTRY_UNREADABLE", "warn"],
  ["OUTPUT_INVALID", "warn"],
  ["STORAGE_UNSAFE", "error"],
])("a family that fails with %s gets a line without its message, which goes to the log", async ([code, level]) => {
  log.length = 0;
  expect(await indexOf([framed, failing(code), () => ""])).toBe(`${framed(6)}(f1 could not be read: ${code})\n`);
  expect(log).toEqual([`${level} Index1 alice one f1 is left out: ${code}: words of a guest`]);
});

test("leaves out a family whose answer is too large, or that fails with a lower limit", async () => {
  expect(await indexOf([() => "x\n".repeat(300), framed])).toBe(`(f0 could not be read: OUTPUT_INVALID)\n${framed(6)}`);
  expect(await indexOf([framed, once])).toBe(`${framed(6)}(f1 could not be read: GUEST_TRAPPED)\n`);
  await expect(indexOf([once, once])).rejects.toMatchObject({ code: "GUEST_TRAPPED" });
});

test.for<readonly [name: string, tells: readonly Tell[], code: ErrorCode]>([
  ["all fail: the first one's", [failing("STORAGE_UNSAFE"), failing("GUEST_TRAPPED")], "STORAGE_UNSAFE"],
  ["one alone fails", [failing("GUEST_TRAPPED")], "GUEST_TRAPPED"],
  ["the runtime is closed", [framed, failing("CLOSED"), framed], "CLOSED"],
])("throws when %s", async ([, tells, code]) => {
  await expect(indexOf(tells)).rejects.toMatchObject({ code });
});

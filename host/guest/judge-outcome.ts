/**
 * Converts the outcome of a guest's run to the call's envelope. A guest may report only these codes: the reportable
 * codes of the error table, the codes that its manifest declares, and codes that a capability returned to it in the
 * same call.
 */
import { failed, failedSchema, successSchema } from "../../shared/envelope.ts";
import type { Envelope, GuestSuccess } from "../../shared/envelope.ts";
import type { ErrorCode } from "../../shared/errors.ts";
import { callLimits } from "../../shared/limits.ts";
import { reportableCodes } from "../../shared/manifest.ts";
import type { PluginError } from "../../shared/manifest.ts";
import { jsonDepth } from "../../shared/text.ts";
import * as z from "../../shared/zod.ts";
import type { CapabilityRecord } from "./capabilities/bind-capabilities.ts";
import type { GuestOutcome } from "./extism-plugin.ts";
import { parseJson } from "./guest-json.ts";

/** The tool that ran. */
export interface JudgedTool {
  readonly toolName: string;
  /** The codes that the manifest of its plugin declares. */
  readonly errors: readonly PluginError[];
}

interface Judged {
  readonly envelope: Envelope;
  /** The files of which the answer shows any part, as its plugin says; `null` if it has not said it. */
  readonly shows: readonly string[] | null;
}

export function judgeOutcome(tool: JudgedTool, outcome: GuestOutcome, record: CapabilityRecord): Judged {
  const answer = answerOf(tool, outcome, record);
  if (!answer.ok) return { envelope: answer, shows: null };
  const { shows, ...envelope } = answer;
  return { envelope, shows: placesIn(shows) };
}

function answerOf(tool: JudgedTool, outcome: GuestOutcome, record: CapabilityRecord): GuestSuccess | Failed {
  const { toolName } = tool;
  if (record.denial) return { ok: false, error: record.denial };
  switch (outcome.kind) {
    case "output":
      return successEnvelope(toolName, outcome);
    case "error":
      return failedEnvelope(tool, outcome.text, record);
    case "oversized":
      return tooLarge(toolName, outcome.bytes);
    case "exhausted":
      return failed(
        "MEMORY_EXCEEDED",
        `Cannot finish ${toolName}: the plugin made over ${callLimits.blocksMax} blocks or ${callLimits.blockBytesMax} bytes of them`,
      );
    case "trap":
      return outcome.isMemoryFull
        ? failed("MEMORY_EXCEEDED", `Cannot finish ${toolName}: the plugin's wasm memory is used up`)
        : crashed(toolName);
  }
}

/** What has another form, or more names than a guest can have read files, says nothing. */
function placesIn(shows: unknown): readonly string[] | null {
  const parsed = z.safeParse(placesSchema, shows);
  return parsed.success ? parsed.data : null;
}

const placesSchema = z.array(z.string()).check(z.maxLength(callLimits.hostCallsMax));

type Failed = Extract<Envelope, { ok: false }>;

function successEnvelope(
  toolName: string,
  { text, bytes }: Pick<Extract<GuestOutcome, { kind: "output" }>, "text" | "bytes">,
): GuestSuccess | Failed {
  const depth = jsonDepth(text);
  if (depth > callLimits.outputDepthMax) {
    return invalid(toolName, `it is ${depth} levels deep, at most ${callLimits.outputDepthMax} allowed`);
  }
  const parsed = z.safeParse(successSchema, parseJson(text));
  if (!parsed.success) return invalid(toolName, "its output is not a success envelope");
  return isTooLarge(bytes, parsed.data) ? tooLarge(toolName, bytes) : parsed.data;
}

/** What it shows is beside the answer, and has a bound of its own. */
function isTooLarge(bytes: number, { shows }: GuestSuccess): boolean {
  const { outputBytesMax, showsBytesMax } = callLimits;
  if (bytes <= outputBytesMax) return false;
  const beside = shows === undefined ? 0 : Buffer.byteLength(`,"shows":${JSON.stringify(shows)}`);
  return bytes - Math.min(beside, showsBytesMax) > outputBytesMax;
}

function failedEnvelope({ toolName, errors }: JudgedTool, text: string, record: CapabilityRecord): Failed {
  if (Buffer.byteLength(text) > callLimits.outputBytesMax) return invalid(toolName, "its error is too long");
  const value = parseJson(text);
  if (value === undefined) return crashed(toolName);
  const parsed = z.safeParse(failedSchema, value);
  if (!parsed.success) return invalid(toolName, "its error is not a failed envelope");
  const { code, message, issues } = parsed.data.error;
  const declared = errors.find((each) => each.code === code);
  if (declared) return { ok: false, error: { code, of: declared.of, message, ...(issues && { issues }) } };
  return mayReport(code, record)
    ? failed(code, message, issues)
    : invalid(toolName, `it reports ${code}, a code that it neither declares nor received`);
}

function mayReport(code: string, { reported }: CapabilityRecord): code is ErrorCode {
  return [...reportableCodes, ...reported].some((each) => each === code);
}

function tooLarge(toolName: string, bytes: number): Failed {
  const allowed = `at most ${callLimits.outputBytesMax} allowed`;
  return failed("OUTPUT_TOO_LARGE", `Cannot finish ${toolName}: its answer is ${bytes} bytes, ${allowed}`);
}

/** Some SDKs cannot distinguish a trap from an error code without an error text, so both get the same code. */
function crashed(toolName: string): Failed {
  return failed("GUEST_TRAPPED", `Cannot finish ${toolName}: the plugin's code crashed`);
}

function invalid(toolName: string, reason: string): Failed {
  return failed("OUTPUT_INVALID", `Cannot use the answer of ${toolName}: ${reason}`);
}

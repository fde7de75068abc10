/**
 * Moves in what other programs keep as memory. A plugin without any right makes files of it, as text in a sandbox, and these are
 * imported: nothing here reads what is in them.
 */
import { isUtf8 } from "node:buffer";

import { callLimits } from "../../shared/limits.ts";
import type { OriginClass } from "../../shared/origin.ts";
import { roleLimits } from "../../shared/role-limits.ts";
import type { ConvertInput, ConvertOutput } from "../../shared/roles.ts";
import * as z from "../../shared/zod.ts";
import { transferLimits } from "../archive/transfer-limits.ts";
import { ownScopesOf, unknownRole } from "../plugins/tools.ts";
import type { CatalogTool } from "../plugins/tools.ts";
import type { ForeignFile, MemoryFile } from "../values/memory-file.ts";
import { reasonOf, ToolError } from "../values/tool-error.ts";
import { defineOperation } from "./define-operation.ts";
import { aFunction, oneOf, optional, passed, text } from "./field.ts";
import { importPlanned, lookAt, together } from "./import.ts";
import type { PlannedImport } from "./import.ts";
import type { ImportPlan, MoveInOptions, MoveInPlan, TextWriter } from "./memory-files.ts";
import type { Operation } from "./operation.ts";
import type { LeftFile } from "./undo-plan.ts";

/** Whose texts move in, as a person says it, and how far they are trusted then. */
const writers = {
  unknown: "unstated",
  me: "owner_edit",
  document: "untrusted_document",
  web: "tool_external",
} as const satisfies Record<TextWriter, OriginClass>;

const foreignFiles = z.array(z.object({ path: z.string(), read: aFunction })) as unknown as z.ZodMiniType<
  readonly ForeignFile[]
>;

export const moveIn = defineOperation({
  name: "moveIn",
  action: "move in a memory",
  changes: true,
  fields: {
    files: passed(foreignFiles, "a list of files, each with a path, and a function that reads it"),
    from: optional(
      oneOf(
        Object.keys(writers) as TextWriter[],
        "WHO",
        'whose texts they are: "me" (trusted as yours), "unknown" (the default), "document" or "web" (trusted less)',
      ),
    ),
    format: optional(
      text(
        "FORMAT",
        "what the files are, if they are taken for something else: claude-code, claude-memory, obsidian, markdown, mem0 or list",
      ),
    ),
  },
  run: moveFiles,
  plan: { name: "planMoveIn", action: "plan to move in a memory", changes: true, run: planFiles },
});

/**
 * How often names are given anew, because others are there already with other texts. Each time, the entries of one more earlier
 * move that have changed since keep theirs.
 */
const attemptsMax = 10;

type Asked = MoveInOptions & { readonly files: readonly ForeignFile[] };

async function planFiles(operation: Operation, input: Asked): Promise<MoveInPlan> {
  const { planned, ...told } = await converted(operation, input);
  return { ...told, ...together(planned) };
}

async function moveFiles(operation: Operation, input: Asked): Promise<MoveInPlan> {
  const { planned, ...told } = await converted(operation, input);
  return { ...told, ...(await importPlanned(operation, planned, input.from === "me" ? "approved" : "imported")) };
}

type ConvertedPlan = Omit<MoveInPlan, keyof ImportPlan> & { readonly planned: PlannedImport };

async function converted(operation: Operation, { files, from, format }: Asked): Promise<ConvertedPlan> {
  const { tools, action } = operation;
  const [convert] = tools.withRole("convert");
  const [entries] = tools
    .withRole("add")
    .flatMap((tool) => tools.forScope("entries", ownScopesOf(tool)[0] ?? "") ?? []);
  if (convert === undefined) throw unknownRole(action, "convert", { hint: undefined });
  if (entries === undefined) throw unknownRole(action, "entries", { hint: undefined });
  const [scope = ""] = ownScopesOf(entries);
  const trust = writers[from ?? "unknown"];
  const listed = await operation.ask("entries", entries, {});
  // The names of files that do not tell them. Nothing else would keep a new file from taking one.
  const taken = listed.entries.flatMap(({ name, path }) => (path === undefined ? [] : [name]));
  const present = new Map<string, string>();
  for (let attempt = 1; ; attempt++) {
    const { made, ...told } = await new Conversion(operation, convert, format).of(files, taken, present);
    const asFiles = made.map(({ path, content }): MemoryFile => ({
      scope,
      path,
      content: Buffer.from(content),
      trust,
    }));
    const planned = await lookAt(operation, { files: asFiles });
    const inTheWay = planned.refused.filter(({ code, path }) => code === "NAME_CONFLICT" && !present.has(path));
    if (inTheWay.length === 0 || attempt === attemptsMax) {
      const found = files.filter(({ path }) => !path.endsWith("/")).length;
      return { ...told, found, planned };
    }
    await operation.hold("read", [scope], async (held) => {
      for (const { path } of inTheWay) {
        const bytes = await held.bytesOf(scope, path.slice(scope.length + 1));
        present.set(path, Buffer.from(bytes ?? "").toString());
      }
    });
  }
}

interface Converted extends Pick<MoveInPlan, "format" | "left"> {
  readonly made: ConvertOutput["entries"];
}

/** Bytes of an input beside paths, texts and what the plugin has to know again. */
const envelopeBytes = 4_096;
const jsonBytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

/** As many as the largest import needs if each has a tenth of the text that fits. */
const callsMax = 4_000;

/** What of a file's text is not read yet. */
interface TextOf {
  readonly path: string;
  readonly bytes: Buffer;
}

/** When texts are sent: about as much as an input has room for. */
const bytesAtOnce = callLimits.inputBytesMax / 2;

/** One pass through all files: their names, then the texts of those that the plugin wants, in as many calls as needed. */
class Conversion {
  readonly #operation: Operation;
  readonly #convert: CatalogTool;
  readonly #chosen: string | undefined;
  #carry = "";
  #format = "";
  #bytes = 0;
  #calls = 0;
  #toldBytes = 0;
  readonly #made: ConvertOutput["entries"] = [];
  readonly #left: LeftFile[] = [];

  constructor(operation: Operation, convert: CatalogTool, format: string | undefined) {
    this.#operation = operation;
    this.#convert = convert;
    this.#chosen = format;
  }

  /** `taken`: names that no entry gets. `present`: by path, the files whose names it does not get either, nor their texts. */
  async of(
    files: readonly ForeignFile[],
    taken: readonly string[],
    present: ReadonlyMap<string, string>,
  ): Promise<Converted> {
    const there = Array.from(present, ([path, content]) => ({ path: path.slice(path.lastIndexOf("/") + 1), content }));
    for (const names of inBatches(taken)) await this.#ask({ paths: [], taken: names });
    for (const batch of inBatches(there)) await this.#ask({ paths: [], present: batch });
    const wanted: string[] = [];
    for (const paths of inBatches(files.map(({ path }) => path))) wanted.push(...(await this.#ask({ paths })).wants);
    const byPath = new Map(files.map((file) => [file.path, file]));
    await this.#readAll(wanted.flatMap((path) => byPath.get(path) ?? []));
    if (wanted.length > 0) await this.#ask({ format: this.#chosen ?? this.#format, files: [] });
    return { format: this.#chosen ?? this.#format, made: this.#made, left: this.#left };
  }

  async #readAll(files: readonly ForeignFile[]): Promise<void> {
    let unread: TextOf[] = [];
    for (const file of files) {
      const bytes = await this.#bytesOf(file);
      if (bytes === null) continue;
      unread.push({ path: file.path, bytes });
      while (unread.reduce((sum, each) => sum + each.bytes.length, 0) > bytesAtOnce) unread = await this.#send(unread);
    }
    while (unread.length > 0) unread = await this.#send(unread);
  }

  /** Sends as much as one input has room for: whole files, or a piece of the first. Returns what is not read yet. */
  async #send(unread: readonly TextOf[]): Promise<TextOf[]> {
    let room = callLimits.inputBytesMax - envelopeBytes - jsonBytes(this.#carry);
    const sent: NonNullable<ConvertInput["files"]> = [];
    for (const { path, bytes } of unread) {
      const piece = pieceOf(bytes, room - jsonBytes(path));
      const isWhole = piece.length === bytes.length;
      if (!isWhole && sent.length > 0) break;
      sent.push({ path, text: piece.toString(), ...(!isWhole && { more: true }) });
      room -= jsonBytes(sent.at(-1));
    }
    const { rest } = await this.#ask({ format: this.#chosen ?? this.#format, files: sent });
    if (rest === null) return unread.slice(sent.length);
    const at = unread.findIndex(({ path }) => path === rest.path);
    const open = unread[at];
    if (open === undefined || (at === 0 && rest.bytes === 0)) throw this.#endless();
    return [{ path: open.path, bytes: open.bytes.subarray(rest.bytes) }, ...unread.slice(at + 1)];
  }

  async #ask(asked: ConvertInput): Promise<ConvertOutput> {
    const told = await this.#operation.ask("convert", this.#convert, { ...asked, carry: this.#carry });
    this.#calls++;
    this.#toldBytes += jsonBytes(told.entries) + jsonBytes(told.left);
    if (this.#calls > callsMax || this.#toldBytes > 2 * transferLimits.textBytesMax) throw this.#endless();
    this.#carry = told.carry;
    this.#format = told.format;
    this.#made.push(...told.entries);
    this.#left.push(...told.left);
    return told;
  }

  /** A file's text in UTF-8, without a mark of its byte order; `null` if it is none, which is named. */
  async #bytesOf({ path, read }: ForeignFile): Promise<Buffer | null> {
    try {
      const bytes = asUtf8(await read());
      this.#bytes += bytes.length;
      if (this.#bytes <= transferLimits.textBytesMax) return bytes;
    } catch (error) {
      if (!(error instanceof ToolError)) throw error;
      this.#left.push({ path, reason: reasonOf(error) });
      return null;
    }
    const reason = `its texts have over ${transferLimits.textBytesMax} bytes; expected a part of them at a time`;
    throw new ToolError("QUOTA_EXCEEDED", `Cannot ${this.#operation.action}: ${reason}`);
  }

  #endless(): ToolError {
    return new ToolError("OUTPUT_INVALID", `Cannot ${this.#operation.action}: the plugin comes to no end`);
  }
}

/** Windows programs write UTF-16, with a mark at the beginning. */
function asUtf8(bytes: Uint8Array): Buffer {
  const utf16 =
    bytes[0] === 0xff && bytes[1] === 0xfe ? "utf-16le" : bytes[0] === 0xfe && bytes[1] === 0xff ? "utf-16be" : null;
  if (utf16 === null && !isUtf8(bytes))
    throw new ToolError("INPUT_INVALID", "Cannot read a file: it is not UTF-8 text");
  return Buffer.from(new TextDecoder(utf16 ?? "utf-8").decode(bytes));
}

/** The beginning of a text that takes at most so many bytes as JSON, up to the end of a character; at least one of it. */
function pieceOf(bytes: Buffer, room: number): Buffer {
  let end = Math.min(bytes.length, Math.max(room, 4));
  for (;;) {
    while (end < bytes.length && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
    const piece = bytes.subarray(0, end);
    const taken = jsonBytes(piece.toString());
    if (taken <= room || end <= 4) return piece;
    end = Math.max(4, Math.floor((end * room) / taken) - 1);
  }
}

/** As many at a time as an input, and an answer that names them all, have room for. One that is larger alone is left out. */
function inBatches<Item>(items: readonly Item[]): Item[][] {
  const batches: Item[][] = [];
  let room = 0;
  for (const item of items) {
    const bytes = jsonBytes(item) + 1;
    if (bytes > batchBytesMax) continue;
    if (room < bytes || batches.at(-1)?.length === roleLimits.toldMax) {
      batches.push([]);
      room = batchBytesMax;
    }
    batches.at(-1)?.push(item);
    room -= bytes;
  }
  return batches;
}

const batchBytesMax = callLimits.outputBytesMax / 4;

import * as z from "../../../shared/zod.ts";
import type { ForeignFile } from "../../values/memory-file.ts";
import { defineOperation } from "../define-operation.ts";
import { exportUser } from "../export.ts";
import { flag, listOf, oneOf, optional, passed, text } from "../field.ts";
import { fileFault, memoryFiles, memoryFilesExpected } from "../import-files.ts";
import { importFiles, planFiles } from "../import.ts";
import type { OnProgress, TextWriter } from "../memory-files.ts";
import { moveIn as movedIn, planMoveIn, writers } from "../move-in.ts";
import type { Operation } from "../operation.ts";

// The commands "export" and "import" read and write files: they do more than one operation.

const isFunction = (value: unknown): boolean => typeof value === "function";
const progress = z.unknown().check(z.refine(isFunction)) as unknown as z.ZodMiniType<OnProgress>;

export const exportMemory = defineOperation({
  name: "export",
  action: "export a user's memory",
  changes: false,
  fields: {
    scopes: listOf(text("NAME", "a scope to export (default: all scopes of the user)")),
    onProgress: optional(passed(progress, "a function")),
  },
  run: exportUser,
});

const asked = {
  files: passed(memoryFiles, memoryFilesExpected),
  scopes: listOf(text("NAME", "a scope to import (default: all scopes)")),
  replace: flag("moves existing entries with other content to the trash; without it, the import is refused"),
};

type Asked = Parameters<typeof importFiles>[2] & { readonly files: Parameters<typeof importFiles>[1] };

export const importMemory = defineOperation({
  name: "import",
  action: "import a user's memory",
  changes: true,
  fields: asked,
  check: fileFault,
  run: (operation: Operation, { files, ...options }: Asked) => importFiles(operation, files, options),
  plan: {
    name: "planImport",
    action: "plan an import",
    changes: true,
    run: (operation: Operation, { files, ...options }: Asked) => planFiles(operation, files, options),
  },
});

const foreignFile = z.object({ path: z.string(), read: z.unknown().check(z.refine(isFunction)) });
const foreignFiles = z.array(foreignFile) as unknown as z.ZodMiniType<readonly ForeignFile[]>;

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
  run: (operation: Operation, { files, ...options }) => movedIn(operation, files, options),
  plan: {
    name: "planMoveIn",
    action: "plan to move in a memory",
    changes: true,
    run: (operation: Operation, { files, ...options }) => planMoveIn(operation, files, options),
  },
});

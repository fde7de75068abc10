/** The types of tools by their names. */

/**
 * What each tool for models takes and answers, by its name: those of the package's plugins. A program adds the tools of
 * its own plugins, by hand or with the types that the build of a plugin writes.
 *
 * @example
 * declare module "memcell" {
 *   interface ToolTypes {
 *     AddBook: { input: { title: string }; output: { shelf: number } };
 *   }
 * }
 * const result = await runtime.call("AddBook", { title: "Momo" }, ctx);
 * if (result.ok) console.log(result.data.shelf);
 */
// oxlint-disable-next-line typescript/no-empty-object-type -- the build fills it: see `build/package-types.ts`
export interface ToolTypes {}

/** The same for tools that plugins offer to programs, by `family/Tool`. */
// oxlint-disable-next-line typescript/no-empty-object-type -- as above
export interface HostToolTypes {}

/** Any text. Editors propose the names of the tools that are known. */
// oxlint-disable-next-line typescript/no-redundant-type-constituents -- not redundant once the build has filled it
export type ToolName = keyof ToolTypes | (string & {});
// oxlint-disable-next-line typescript/no-redundant-type-constituents -- as above
export type HostToolName = keyof HostToolTypes | (string & {});

/**
 * What a tool takes: `unknown` if its name is not known when the program is compiled.
 *
 * @example
 * const entry: ToolInput<"ReadUserMemory"> = { name: "editor" };
 */
export type ToolInput<Name extends string> = Part<ToolTypes, Name, "input">;
/** What a tool answers as `data`. */
export type ToolOutput<Name extends string> = Part<ToolTypes, Name, "output">;
export type HostToolInput<Name extends string> = Part<HostToolTypes, Name, "input">;
export type HostToolOutput<Name extends string> = Part<HostToolTypes, Name, "output">;

type Part<Types, Name extends string, Of extends "input" | "output"> = Name extends keyof Types
  ? Types[Name] extends Readonly<Record<Of, infer Type>>
    ? Type
    : unknown
  : unknown;

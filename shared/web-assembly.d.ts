/**
 * The part of the WebAssembly JavaScript API that host and build use. TypeScript has it only in its browser
 * libraries, whose other globals must not compile here.
 */
declare namespace WebAssembly {
  type Imports = Record<string, Record<string, unknown>>;

  interface ImportDescriptor {
    readonly module: string;
    readonly name: string;
    readonly kind: "function" | "table" | "memory" | "global" | "tag";
  }

  interface ExportDescriptor {
    readonly name: string;
    readonly kind: ImportDescriptor["kind"];
  }

  interface Module {}

  const Module: {
    new (bytes: Uint8Array): Module;
    imports(module: Module): ImportDescriptor[];
    exports(module: Module): ExportDescriptor[];
    customSections(module: Module, name: string): ArrayBuffer[];
  };

  class Instance {
    constructor(module: Module, imports: Imports);
    readonly exports: Record<string, unknown>;
  }

  class Memory {
    constructor(type: { readonly initial: number; readonly maximum: number });
    readonly buffer: ArrayBuffer;
  }

  class Global {
    constructor(type: { readonly value: "i32"; readonly mutable: true }, value: number);
    value: unknown;
  }

  class Table {
    readonly length: number;
    get(index: number): unknown;
  }

  function validate(bytes: Uint8Array): boolean;
  function compile(bytes: Uint8Array): Promise<Module>;
  function instantiate(bytes: Uint8Array, imports: Imports): Promise<{ module: Module; instance: Instance }>;

  class RuntimeError extends Error {}
  class CompileError extends Error {}
  class LinkError extends Error {}
}

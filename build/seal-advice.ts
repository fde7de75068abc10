/** What the author of a module is told to change, for each way in which it is no plugin. */

/** The first pattern that fits a clause of `shared/plugin-shape.ts` counts. */
const advices: readonly (readonly [clause: RegExp, advice: string])[] = [
  [
    /^it imports \w+ "wasi_/,
    "no plugin has WASI: build for wasm32-unknown-unknown, without the parts of a library that read files, clocks, " +
      "randomness or the environment, or print",
  ],
  [/^it imports function "env" "abort"/, "AssemblyScript: give it one of your own, --use abort=FILE/FUNCTION"],
  [/^it imports function "env" "(seed|trace|Date)/, "leave out what needs it: randomness, traces and dates"],
  [
    /^it imports function "env"/,
    'a function is declared and defined nowhere; one of the host\'s is declared with its module, "extism:host/env" or ' +
      '"extism:host/user"',
  ],
  [/no tool asks for the right/, "add the right to the tool in family.ts, or leave the call out"],
  [/^its manifest asks for "\w+", which it does not import/, "take the right from the tools in family.ts, or call it"],
  [/^it imports memory|does not define exactly one memory/, 'define one memory and export it as "memory"'],
  [
    /start function/,
    "nothing may run before a call: no statements outside functions, but constants (AssemblyScript), no constructors (C++)",
  ],
  [
    /to unlimited pages/,
    "give the memory a maximum: --maximumMemory 64 (AssemblyScript), -C link-arg=--max-memory=4194304 (Rust), " +
      "-Wl,--max-memory=4194304 (clang)",
  ],
  [/^it exports function "_(start|initialize)"/, "build a library and no program: cdylib (Rust), --no-entry (clang)"],
  [/^it exports/, "take it out of the exports, or declare a tool of this export in family.ts"],
  [/^its manifest names "\w+", which it does not export/, "export a function of this name, () -> i32"],
];

/** `null` where the clause says it all. */
export function adviceFor(clause: string): string | null {
  return advices.find(([pattern]) => pattern.test(clause))?.[1] ?? null;
}

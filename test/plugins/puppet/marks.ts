/** Leaves marks for a later script wherever JavaScript keeps state, or looks for them. */
const nothing = "nothing";
let variable = nothing;
let late = nothing;
const list: string[] = [];
const map = new Map<string, string>();
const set = new Set<string>();
const key = {};
const weakMap = new WeakMap<object, string>();
const expression = /a/g;
const date = new Date(0);
const buffer = new Uint8Array(64);
const symbol = Symbol.for("planted");

function* count(): Generator<number, void> {
  for (let number = 0; ; number++) yield number;
}
const counter = count();

class Counted {
  readonly name = nothing;
  static count = 0;
  static #hidden = nothing;

  static hide(text: string): void {
    Counted.#hidden = text;
    Counted.count++;
  }

  static get hidden(): string {
    return Counted.#hidden;
  }
}

const closure = ((kept: string) => ({
  keep(text: string): void {
    kept = text;
  },
  tell: (): string => kept,
}))(nothing);

type Loose = Record<string | symbol, unknown>;
const loose = (value: unknown): Loose => value as Loose;

/** Objects that all scripts share. */
const shared: Record<string, Loose> = {
  global: loose(globalThis),
  prototype: loose(Object.prototype),
  functionPrototype: loose(Object.getPrototypeOf(count)),
  arrayPrototype: loose(Array.prototype),
  stringPrototype: loose(String.prototype),
  symbolPrototype: loose(Symbol.prototype),
  promisePrototype: loose(Promise.prototype),
  datePrototype: loose(Date.prototype),
  errorPrototype: loose(Error.prototype),
  iteratorPrototype: loose(Object.getPrototypeOf(Object.getPrototypeOf(counter))),
  json: loose(JSON),
  math: loose(Math),
  host: loose(Host),
  memory: loose(Memory),
  console: loose(console),
};

export function leaveMarks(text: string): void {
  variable = text;
  list.push(text);
  map.set(text, text);
  set.add(text);
  weakMap.set(key, text);
  expression.test("aaa");
  date.setTime(77);
  buffer.fill(77);
  counter.next();
  Counted.hide(text);
  closure.keep(text);
  for (const place of Object.values(shared)) place["planted"] = text;
  loose(globalThis)[symbol] = text;
  loose(Math)["max"] = () => text;
  delete loose(globalThis)["escape"];
  Object.preventExtensions(Reflect);
  // A job that runs after this call, if at all.
  void Promise.resolve().then(() => (late = text));
  Memory.fromString(`${text} in a freed block`).free();
}

export function findMarks(): Record<string, unknown> {
  const properties = Object.entries(shared).map(([name, place]) => {
    const own = Object.getOwnPropertyDescriptor(place, "planted");
    return [name, String(own?.value)] as const;
  });
  return {
    ...Object.fromEntries(properties),
    moduleVariable: variable,
    late,
    list: list.length,
    map: map.size,
    set: set.size,
    weakMap: weakMap.has(key),
    lastIndex: expression.lastIndex,
    lastMatch: String(loose(RegExp)["$&"]),
    date: date.getTime(),
    buffer: buffer.some((byte) => byte !== 0),
    generator: counter.next().value,
    staticField: Counted.count,
    hiddenField: Counted.hidden,
    closure: closure.tell(),
    symbol: String(loose(globalThis)[symbol]),
    replaced: String(Math.max(1, 2)),
    removed: typeof loose(globalThis)["escape"],
    extensible: Object.isExtensible(Reflect),
  };
}

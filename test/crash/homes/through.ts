/** An object that is always the present one, but for some members. */
export function through<Target extends object>(present: () => Target, fixed: Partial<Target> = {}): Target {
  return new Proxy(fixed as Target, {
    get: (_fixed, key) => {
      if (Reflect.has(fixed, key)) return Reflect.get(fixed, key) as unknown;
      const target = present();
      const value = Reflect.get(target, key) as unknown;
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
}

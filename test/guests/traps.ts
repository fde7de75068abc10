/** Each tool of `trapper.wat` with its export: one for each way in which WebAssembly crashes. */
export const traps = {
  Unreachable: "unreachable",
  DivideByZero: "divide_by_zero",
  DivideOverflow: "divide_overflow",
  ConvertNan: "convert_nan",
  LoadOutside: "load_outside",
  StoreOutside: "store_outside",
  FillOutside: "fill_outside",
  CallNull: "call_null",
  CallOtherType: "call_other_type",
  CallOutsideTable: "call_outside_table",
} as const;

/** Lists the fields in a JSON Schema of an object. Nested fields follow their parents: `data.results[].key`. */

/** The parts of a JSON Schema that a page shows. */
export interface Field {
  readonly description?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly string[];
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly maxItems?: number;
  readonly items?: Field;
  readonly anyOf?: readonly Field[];
  readonly properties?: Readonly<Record<string, Field>>;
  readonly required?: readonly string[];
}

export interface NamedField {
  readonly path: string;
  readonly field: Field;
  readonly isRequired: boolean;
}

export function fieldsOf({ properties = {}, required = [] }: Field, above = ""): NamedField[] {
  return Object.entries(properties).flatMap(([name, field]) => {
    const path = `${above}${name}`;
    const named: NamedField = { path, field, isRequired: required.includes(name) };
    return [named].concat(fieldsInside(field, path));
  });
}

function fieldsInside(field: Field, path: string): NamedField[] {
  if (field.properties) return fieldsOf(field, `${path}.`);
  return field.items?.properties ? fieldsOf(field.items, `${path}[].`) : [];
}

/** The type of a field, as text: "string", `"daily", "summary" or null`, "array of string". */
export function typeOf(field: Field): string {
  if (field.anyOf) return field.anyOf.map((each) => typeOf(each)).join(" or ");
  if (field.enum) return field.enum.map((each) => `\`"${each}"\``).join(", ");
  if (field.type === "array" && field.items) return `array of ${typeOf(field.items)}`;
  return typeof field.type === "string" ? field.type : (field.type ?? ["any"]).join(" or ");
}

/** A field's length and pattern, as text. */
export function limitsOf({ pattern, minLength = 0, maxLength, maxItems, anyOf = [] }: Field): string {
  return [
    ...(maxLength === undefined ? [] : [`${number(minLength)} to ${number(maxLength)} characters`]),
    ...(maxItems === undefined ? [] : [`at most ${number(maxItems)}`]),
    ...(pattern === undefined ? [] : [`\`${pattern.replaceAll("|", "\\|")}\``]),
    ...anyOf.map((each) => limitsOf(each)).filter((limits) => limits !== ""),
  ].join(", ");
}

const number = (value: number): string => value.toLocaleString("en-GB");

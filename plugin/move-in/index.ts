/** The plugin's export. Wiring only. */
import { counted } from "../../shared/text.ts";
import { serveProgram } from "../kit/serve-tool.ts";
import { convertFiles } from "./convert-files.ts";
import { convertInput } from "./schemas.ts";

export const convert_files = serveProgram("ConvertFiles", convertInput, (input) => {
  const data = convertFiles(input);
  const { wants, entries, left } = data;
  const made = input.files === undefined ? counted(wants.length, "file") : `Entries: ${entries.length}`;
  return { message: `${made}, ${left.length} left`, data };
});

import { ToolError } from "../../tool-error.ts";

/** Someone has changed the user's files since the call read them. The call is made again before this is reported. */
export class StaleCall extends ToolError {
  constructor() {
    super("BUSY", "Cannot change the user's files: they were being edited while the call ran");
  }
}

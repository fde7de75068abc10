/** The end of `npm run test:shown` and `test:long`: records which files its suites have been shown for. */
import { recordShown } from "./shown-inputs.ts";

recordShown();

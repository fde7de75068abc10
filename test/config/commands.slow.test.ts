/** Repeats the common tests of `commands.test.ts` for all other commands. */
import { all, recording, testLogs, testMisspelt, testPolicies } from "./said-settings.ts";

testLogs(recording.slice(1));
testPolicies(all.slice(1));
testMisspelt(all.slice(1));

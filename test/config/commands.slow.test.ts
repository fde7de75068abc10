/** What `commands.test.ts` shows of the first command holds for all others. */
import { all, recording, testLogs, testMisspelt, testPolicies } from "./said-settings.ts";

testLogs(recording.slice(1));
testPolicies(all.slice(1));
testMisspelt(all.slice(1));

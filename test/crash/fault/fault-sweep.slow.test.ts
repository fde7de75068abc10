/** Other disk failures in half of the scenarios. With `TEST_LONG=1`, `fault-sweep.test.ts` takes all. */
import { isLong, oneIn } from "../../stage/seed.ts";
import { testFaults } from "./fault-suite.ts";

testFaults((all) => (isLong ? all.slice(0, 1) : oneIn(2, all)), "others");

/** One step looks at none of them. */
const looksAtNone = "finish an erasure after a crash";

testFaults(
  (all) => all.filter(({ name }) => name !== looksAtNone),
  "ownFiles",
  "nothing is lost or left if the host's own files cannot be used: $name",
);

import { expect, test } from "vitest";

import { fairShares } from "../../host/runtime/fair-shares.ts";

test.for<readonly [total: number, needs: readonly number[], shares: readonly number[]]>([
  [100, [], []],
  [100, [40], [40]],
  [100, [140], [100]],
  [100, [10, 60, 70], [10, 45, 45]],
  [100, [70, 10, 60], [45, 10, 45]],
  [100, [50, 50], [50, 50]],
  [100, [0, 200, 33], [0, 67, 33]],
  [10, [9, 9, 9], [3, 3, 4]],
  [2, [9, 9, 9], [0, 1, 1]],
  [0, [1, 0], [0, 0]],
])("shares %j among needs of %j", ([total, needs, shares]) => {
  expect(fairShares(total, needs)).toEqual(shares);
});

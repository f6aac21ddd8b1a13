import { expect, test } from "vitest";
import { PendingTable, pendingSlotsMax } from "./pending-table.ts";

test("each is taken once, by its number, whatever came and went in its slot", () => {
  const table = new PendingTable<string>();
  const first = table.add("first");
  const second = table.add("second");
  expect(table.take(first)).toBe("first");
  expect(table.take(first)).toBeUndefined();
  const third = table.add("third");
  expect(third).not.toBe(first);
  expect(third % pendingSlotsMax).toBe(first % pendingSlotsMax);
  expect(table.take(first)).toBeUndefined();
  expect(table.entries()).toEqual([
    [second, "second"],
    [third, "third"],
  ]);
  expect(table.size).toBe(2);
  expect(table.clear()).toEqual(["second", "third"]);
  expect([table.size, table.take(second), table.entries()]).toEqual([0, undefined, []]);
});

test("numbers stay above 0 and within 32 bits over all turns", () => {
  const table = new PendingTable<number>();
  const resident = table.add(-1);
  for (let i = 0; i < 2 ** 18 + 3; i++) {
    const number = table.add(i);
    if (number <= 0 || number >= 2 ** 32 || number === resident) expect.fail(`number ${number}`);
    if (table.take(number) !== i) expect.fail(`value ${i}`);
  }
  expect(table.take(resident)).toBe(-1);
});

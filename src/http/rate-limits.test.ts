// Goal: nobody gets more than its rate for long, others are not touched, and senders take a bounded memory.
import { expect, test } from "vitest";
import { networkOf, type RateConfig, RateLimits } from "./rate-limits.ts";

let nowMs = 0;
const clock = { nowMs: () => nowMs, tickMs: () => nowMs };
const none = { address: undefined, key: undefined, user: undefined, senders: 1000 };

function open(config: Partial<RateConfig>): RateLimits {
  nowMs = 0;
  return new RateLimits({ ...none, ...config }, clock);
}

const from = (address: string, key?: string, user?: string) => ({ address, key, user });

test("a burst, then the rate; others are served", () => {
  const rates = open({ address: { perSecond: 2, burst: 4 } });
  const take = () => rates.take(from("10.0.0.1"));
  expect([take(), take(), take(), take(), take()]).toEqual([0, 0, 0, 0, 1]);
  expect(rates.take(from("10.0.0.2"))).toBe(0);
  nowMs = 499;
  expect(take()).toBe(1);
  nowMs = 500;
  expect([take(), take()]).toEqual([0, 1]);
  nowMs = 1_000_000;
  expect([take(), take(), take(), take(), take()]).toEqual([0, 0, 0, 0, 1]);
});

test("how long to wait is told in whole seconds", () => {
  const rates = open({ key: { perSecond: 0.1, burst: 1 } });
  expect(rates.take(from("", "k"))).toBe(0);
  expect(rates.take(from("", "k"))).toBe(10);
  nowMs = 4_500;
  expect(rates.take(from("", "k"))).toBe(6);
});

test("what one bucket refuses takes nothing of the others", () => {
  const rates = open({
    address: { perSecond: 1, burst: 2 },
    key: { perSecond: 1, burst: 1 },
    user: { perSecond: 1, burst: 9 },
  });
  expect(rates.take(from("10.0.0.1", "k", "ann"))).toBe(0);
  for (let i = 0; i < 5; i++) expect(rates.take(from("10.0.0.1", "k", "ann"))).toBe(1);
  expect(rates.take(from("10.0.0.1", undefined, "ann"))).toBe(0);
  expect(rates.take(from("10.0.0.1"))).toBe(1);
});

test("as many senders are remembered as there is room for", () => {
  const rates = open({ address: { perSecond: 1, burst: 1 }, senders: 10 });
  expect(rates.take(from("10.0.1.1"))).toBe(0);
  for (let i = 0; i < 9; i++) rates.take(from(`10.0.0.${i}`));
  expect(rates.take(from("10.0.1.1"))).toBe(1);
  for (let i = 0; i < 10; i++) rates.take(from(`10.0.2.${i}`));
  expect(rates.take(from("10.0.1.1"))).toBe(0);
});

test.each([
  ["10.1.2.3", "10.1.2.3"],
  ["::ffff:10.1.2.3", "10.1.2.3"],
  ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2"],
  ["2001:0db8:0001:0002::9", "2001:db8:1:2"],
  ["2001:db8::1", "2001:db8:0:0"],
  ["2001:db8::1:2:3:4:5", "2001:db8:0:1"],
  ["::1", "0:0:0:0"],
  ["fe80::1%eth0", "fe80:0:0:0"],
  ["", ""],
])("%s is of %s", (address, network) => expect(networkOf(address)).toBe(network));

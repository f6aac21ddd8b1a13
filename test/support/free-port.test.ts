import { createServer } from "node:net";
import { expect, it } from "vitest";
import { findFreePort } from "./free-port.ts";

it("ports are given once, and are none that the kernel gives to others", async () => {
  const ports = await Promise.all(Array.from({ length: 150 }, () => findFreePort()));
  expect(new Set(ports).size).toBe(150);
  expect(Math.max(...ports)).toBeLessThan(32_768);
});

it("a port that something listens on is passed over", async () => {
  let before = await findFreePort();
  // The next one is of the same block.
  while (before % 100 > 90) before = await findFreePort();
  const holder = createServer();
  await new Promise<void>((resolve) => holder.listen(before + 1, "127.0.0.1", resolve));
  try {
    expect(await findFreePort()).toBe(before + 2);
  } finally {
    holder.close();
  }
});

/** Which addresses and hosts may be asked. */
import { describe, expect, test } from "vitest";
import { isAllowedAddress, isNamed, loopbackBlocks, makeBlocks, publicPolicy } from "./policy.ts";

const allows = (address: string, blocks: readonly string[] = []): boolean =>
  isAllowedAddress(address, { hosts: [], privateAddresses: makeBlocks(blocks) });

describe("addresses", () => {
  test("those that are not public are refused, however they are written", () => {
    const refused = [
      "127.0.0.1",
      "127.8.9.10",
      "10.1.2.3",
      "172.31.255.255",
      "192.168.0.1",
      "169.254.169.254",
      "100.64.0.1",
      "0.0.0.0",
      "224.0.0.1",
      "255.255.255.255",
      "::",
      "::1",
      "fe80::1",
      "fd00::1",
      "ff02::1",
      "::ffff:127.0.0.1",
      "::ffff:7f00:1",
      "::ffff:a9fe:a9fe",
      "::127.0.0.1",
      "64:ff9b::10.0.0.1",
      "64:ff9b::a00:1",
      "no address",
      "",
    ];
    for (const address of refused) expect(allows(address), address).toBe(false);
    for (const address of ["93.184.216.34", "2606:2800:220:1::1", "::ffff:93.184.216.34"]) {
      expect(allows(address), address).toBe(true);
    }
  });

  test("but for those that the operator names", () => {
    expect(allows("127.0.0.1", loopbackBlocks)).toBe(true);
    expect(allows("::ffff:127.0.0.1", loopbackBlocks)).toBe(true);
    expect(allows("169.254.169.254", loopbackBlocks)).toBe(false);
    expect(allows("10.9.0.1", ["10.0.0.0/8"])).toBe(true);
    expect(allows("10.9.0.1", ["10.9.0.2"])).toBe(false);
    expect(() => makeBlocks(["10.0.0.0/33"])).toThrow("no CIDR block");
    expect(() => makeBlocks(["example.com"])).toThrow("no address");
  });
});

test("hosts by name, below a name, with a port", () => {
  const policy = {
    ...publicPolicy,
    hosts: ["keys.example.com", "*.auth.example", "one.example:8443"],
  };
  const named = (url: string): boolean => isNamed(new URL(url), policy);
  expect(named("https://KEYS.example.com/a")).toBe(true);
  expect(named("https://keys.example.com:444/a")).toBe(true);
  expect(named("https://a.b.auth.example/")).toBe(true);
  expect(named("https://one.example:8443/")).toBe(true);
  expect(named("https://auth.example/")).toBe(false);
  expect(named("https://evilauth.example/")).toBe(false);
  expect(named("https://one.example/")).toBe(false);
  expect(named("https://keys.example.com.evil.example/")).toBe(false);
  expect(isNamed(new URL("https://anything.example"), publicPolicy)).toBe(true);
});

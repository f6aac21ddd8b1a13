/**
 * Which hosts the server may ask on somebody's behalf. Whoever writes a GraphQL schema names URLs in it; the server
 * stands in a network where it reaches more than that person does (cloud metadata, services without a password). So
 * addresses that are not public are refused unless the operator has named them, by what a name resolves to and not by
 * how it is written.
 */
import { BlockList, isIP } from "node:net";

export interface OutgoingPolicy {
  /** Hosts that may be asked: `keys.example.com`, `*.example.com`, with a port where only that is meant; [] for all. */
  readonly hosts: readonly string[];
  /** Addresses that may be asked although they are not public. */
  readonly privateAddresses: BlockList;
  /** Where its owner names hosts and addresses; a server's flag unless given. */
  readonly settings?: PolicySettings | undefined;
}

interface PolicySettings {
  readonly hosts: string;
  readonly private: string;
}

/** As errors name them. */
export function settingsOf({ settings }: OutgoingPolicy): PolicySettings {
  return settings ?? { hosts: "--outgoing hosts", private: "--outgoing private" };
}

/** Ranges that are not public: RFC 6890, RFC 4193, RFC 4291, RFC 6598. */
const notPublicRanges = [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/4",
  "240.0.0.0/4",
  "::/128",
  "::1/128",
  "64:ff9b:1::/48",
  "100::/64",
  "2001:db8::/32",
  "fc00::/7",
  "fe80::/10",
  "ff00::/8",
];
let notPublic: BlockList | undefined;

/** Whatever is public, and nothing else. */
export const publicPolicy: OutgoingPolicy = { hosts: [], privateAddresses: new BlockList() };

/** This machine alone. */
export const loopbackBlocks: readonly string[] = ["127.0.0.0/8", "::1/128"];

/** Addresses and CIDR blocks. Throws TypeError for what is neither. */
export function makeBlocks(entries: readonly string[]): BlockList {
  const list = new BlockList();
  for (const entry of entries) addBlock(list, entry);
  return list;
}

function addBlock(list: BlockList, entry: string): void {
  const [address = "", bits] = entry.split("/");
  const family = familyOf(address);
  if (family === undefined) throw new TypeError(`"${entry}" is no address and no CIDR block`);
  const width = family === "ipv4" ? 32 : 128;
  const prefix = bits === undefined ? width : /^\d{1,3}$/.test(bits) ? Number(bits) : NaN;
  if (!(prefix <= width)) throw new TypeError(`"${entry}" is no address and no CIDR block`);
  list.addSubnet(address, prefix, family);
}

function familyOf(address: string): "ipv4" | "ipv6" | undefined {
  const version = isIP(address);
  return version === 0 ? undefined : version === 6 ? "ipv6" : "ipv4";
}

/** Whether the policy names the host of a URL, whatever it resolves to. */
export function isNamed(url: URL, { hosts }: OutgoingPolicy): boolean {
  if (hosts.length === 0) return true;
  return hosts.some((entry) => {
    const name = entry.toLowerCase();
    // A name without a port stands for each port.
    const given = /:\d+$/.test(name) ? url.host : url.hostname;
    return name.startsWith("*.") ? given.endsWith(name.slice(1)) : given === name;
  });
}

/** Whether a connection to an address is allowed. An IPv6 form of an IPv4 address counts as the latter. */
export function isAllowedAddress(address: string, { privateAddresses }: OutgoingPolicy): boolean {
  const plain = toPlain(address);
  const family = familyOf(plain);
  if (family === undefined) return false;
  // Made when it is first asked: what Node needs to read addresses of IPv6 is compiled with the first one.
  notPublic ??= makeBlocks(notPublicRanges);
  return !notPublic.check(plain, family) || privateAddresses.check(plain, family);
}

/** ::ffff:a.b.c.d (RFC 4291, 2.5.5.2) and 64:ff9b::a.b.c.d (RFC 6052) reach the IPv4 address inside them. */
function toPlain(address: string): string {
  if (isIP(address) !== 6) return address;
  const bytes = parseIpv6(address);
  const isMapped = bytes.slice(0, 10).every((byte) => byte === 0) && bytes[10] === 255;
  const isCompatible = bytes.slice(0, 12).every((byte) => byte === 0) && bytes[12] !== 0;
  const isTranslated = bytes.slice(0, 12).join(".") === "0.100.255.155.0.0.0.0.0.0.0.0";
  return isMapped || isCompatible || isTranslated ? bytes.slice(12).join(".") : address;
}

/** The sixteen bytes of an address that is one. */
function parseIpv6(address: string): readonly number[] {
  const [text = ""] = address.split("%");
  const [head = "", tail] = text.split("::");
  const front = groupsOf(head);
  const back = tail === undefined ? [] : groupsOf(tail);
  const zeros = Array.from({ length: 16 - front.length - back.length }, () => 0);
  return [...front, ...zeros, ...back];
}

function groupsOf(text: string): number[] {
  if (text === "") return [];
  return text.split(":").flatMap((group) => {
    if (group.includes(".")) return group.split(".").map(Number);
    const number = Number.parseInt(group, 16);
    return [number >> 8, number & 255];
  });
}

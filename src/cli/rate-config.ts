/** `--rate`: requests a second of each address, key and user. */
import type { Rate, RateConfig } from "../http/rate-limits.ts";
import { Fault } from "../model/fault.ts";
import { parseCount, parseSuperflag } from "./superflag.ts";

const keys = ["address", "key", "user", "burst", "senders"] as const;

const sendersOtherwise = 100_000;
const burstSecondsOtherwise = 2;

/** Undefined where nothing is limited. Plain data: it travels to the children as a message. */
export function parseRates(text: string): RateConfig | undefined {
  const given = parseSuperflag("rate", text, keys);
  const burstSeconds = parseBurst(given.get("burst"));
  const read = (key: "address" | "key" | "user"): Rate | undefined => {
    const value = given.get(key);
    return value === undefined ? undefined : readRate(key, value, burstSeconds);
  };
  const rates = { address: read("address"), key: read("key"), user: read("user") };
  const senders = parseCount("--rate senders", given.get("senders") ?? String(sendersOtherwise));
  if (senders < 1) throw new Fault("E_USAGE", "--rate senders: at least 1");
  const isAny = Object.values(rates).some((rate) => rate !== undefined);
  if (!isAny && given.size > 0) {
    throw new Fault("E_USAGE", "--rate: name a rate of address, key or user, as key=100/s");
  }
  return isAny ? { ...rates, senders } : undefined;
}

const unitSeconds: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600 };

function readRate(key: string, text: string, burstSeconds: number): Rate {
  const match = /^(?<count>\d{1,9})(?:\/(?<unit>[smh]))?$/.exec(text);
  const perSecond =
    Number(match?.groups?.["count"]) / (unitSeconds[match?.groups?.["unit"] ?? "s"] ?? 1);
  if (perSecond > 0) return { perSecond, burst: Math.max(1, perSecond * burstSeconds) };
  throw new Fault("E_USAGE", `--rate ${key}: "${text}" is not a rate (as 100/s, 600/m or 1000/h)`);
}

function parseBurst(text: string | undefined): number {
  if (text === undefined) return burstSecondsOtherwise;
  const seconds = /^\d{1,5}(?:\.\d{1,3})?$/.test(text.replace(/s$/, ""))
    ? Number.parseFloat(text)
    : 0;
  if (seconds > 0) return seconds;
  throw new Fault("E_USAGE", `--rate burst: "${text}" is not a number of seconds (as 2s)`);
}

/** The part of one of `workers` processes, over which connections are spread evenly. */
export function divideRates(config: RateConfig, workers: number): RateConfig {
  const part = (rate: Rate | undefined): Rate | undefined =>
    rate && { perSecond: rate.perSecond / workers, burst: Math.max(1, rate.burst / workers) };
  const { address, key, user, senders } = config;
  return {
    address: part(address),
    key: part(key),
    user: part(user),
    senders: Math.max(1, Math.ceil(senders / workers)),
  };
}

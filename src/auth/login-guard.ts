/**
 * How often somebody may try to log in. Guesses are slowed down for each user at each address, for each user from
 * everywhere, and for each address over all users; the wait doubles with every failure. One for a process: what is
 * counted is lost with it, and processes count apart, so each allows its share.
 */
import type { Clock } from "../base/clock.ts";
import { Lru } from "../base/lru.ts";
import { Fault } from "../model/fault.ts";

export interface LoginLimits {
  /** Failures of a user at an address before it has to wait. */
  readonly attempts: number;
  /** The longest wait, and how long a failure is remembered. */
  readonly lockMs: number;
}

interface LoginAttempt {
  readonly user: string;
  readonly namespace: number;
  /** As the socket tells it; "" where nothing is known. */
  readonly address: string;
}

interface Count {
  failures: number;
  /** On the clock's tick scale. */
  untilMs: number;
  lastMs: number;
}

/** The first wait; each failure doubles it. */
const firstWaitMs = 1000;
/** A user from everywhere, and an address over all users, may fail so many times as often. */
const sharedFactor = 10;
/** Of an address: a proxy in front of many users is one, too. */
const addressWaitMaxMs = 60_000;
/** Logins under way in a process: some two seconds of work. */
const pendingMax = 32;
/** Users and addresses that are remembered. */
const rememberedMax = 30_000;

export class LoginGuard {
  readonly #clock: Clock;
  readonly #limits: LoginLimits;
  readonly #counts = new Lru<string, Count>(rememberedMax);
  /** Users at addresses where they have logged in: others cannot lock them out there. */
  readonly #proven = new Lru<string, true>(rememberedMax);
  #pending = 0;

  constructor(clock: Clock, limits: LoginLimits) {
    this.#clock = clock;
    this.#limits = limits;
  }

  /**
   * Runs `login`, which gives undefined for a failure. The failure is counted before it is known, so that attempts at
   * the same time are no way round. Throws Fault E_LOGIN_WAIT, and E_OVERLOADED where too many are under way.
   */
  async run<T>(attempt: LoginAttempt, login: () => Promise<T | undefined>): Promise<T | undefined> {
    const keys = keysOf(attempt);
    this.#check(keys);
    if (this.#pending >= pendingMax) {
      const what = `${pendingMax} logins are under way, please try again`;
      throw new Fault("E_OVERLOADED", what);
    }
    this.#pending++;
    this.#fail(keys);
    try {
      const found = await login();
      if (found !== undefined) this.#succeed(keys);
      return found;
    } catch (error) {
      this.#takeBack(keys);
      throw error;
    } finally {
      this.#pending--;
    }
  }

  #check(keys: Keys): void {
    const own = this.#waitOf(keys.userAtAddress);
    const everywhere = this.#proven.get(keys.userAtAddress) ? 0 : this.#waitOf(keys.user);
    const waitMs = Math.max(own, everywhere, this.#waitOf(keys.address));
    if (waitMs <= 0) return;
    throw new LoginWait(Math.ceil(waitMs / 1000));
  }

  #waitOf(key: string | undefined): number {
    const count = key === undefined ? undefined : this.#counts.get(key);
    return count === undefined ? 0 : count.untilMs - this.#clock.tickMs();
  }

  #fail({ userAtAddress, user, address }: Keys): void {
    const { attempts, lockMs } = this.#limits;
    this.#count(userAtAddress, attempts, lockMs);
    this.#count(user, attempts * sharedFactor, lockMs);
    if (address === undefined) return;
    this.#count(address, attempts * sharedFactor, Math.min(lockMs, addressWaitMaxMs));
  }

  #count(key: string, free: number, waitMaxMs: number): void {
    const now = this.#clock.tickMs();
    let count = this.#counts.get(key);
    if (count === undefined || now - count.lastMs > this.#limits.lockMs) {
      count = { failures: 0, untilMs: 0, lastMs: now };
      this.#counts.set(key, count);
    }
    count.failures++;
    count.lastMs = now;
    if (count.failures < free) return;
    const doubled = firstWaitMs * 2 ** Math.min(30, count.failures - free);
    count.untilMs = now + Math.min(waitMaxMs, doubled);
  }

  #succeed(keys: Keys): void {
    this.#counts.delete(keys.userAtAddress);
    this.#counts.delete(keys.user);
    this.#proven.set(keys.userAtAddress, true);
    this.#takeBackOne(keys.address);
  }

  /** The outcome is not the sender's fault: nothing was guessed. */
  #takeBack(keys: Keys): void {
    this.#takeBackOne(keys.userAtAddress);
    this.#takeBackOne(keys.user);
    this.#takeBackOne(keys.address);
  }

  #takeBackOne(key: string | undefined): void {
    const count = key === undefined ? undefined : this.#counts.get(key);
    if (count === undefined) return;
    count.failures--;
    count.untilMs = 0;
  }
}

/** A login that comes too soon after others that failed. */
export class LoginWait extends Fault {
  readonly seconds: number;

  constructor(seconds: number) {
    super("E_LOGIN_WAIT", `too many logins have failed: try again in ${seconds} s`);
    this.seconds = seconds;
  }
}

interface Keys {
  readonly userAtAddress: string;
  readonly user: string;
  /** undefined for this machine, and for what is unknown. */
  readonly address: string | undefined;
}

/** Of a user's name only so much tells users apart here. */
const nameMax = 256;

function keysOf({ user, namespace, address }: LoginAttempt): Keys {
  const name = `${namespace}/${user.slice(0, nameMax)}`;
  const place = placeOf(address);
  return {
    userAtAddress: `${name}@${place}`,
    user: name,
    address: place === "" ? undefined : `@${place}`,
  };
}

/** Who has one IPv6 address has 2^64 of them: the network counts (RFC 4291, 2.5.4). "" for this machine. */
function placeOf(address: string): string {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, "");
  if (plain === "::1" || plain.startsWith("127.")) return "";
  if (!plain.includes(":")) return plain;
  const [head = "", tail] = plain.split("::");
  const front = head.split(":").filter((group) => group !== "");
  const back = (tail ?? "").split(":").filter((group) => group !== "");
  const zeros = Array.from({ length: Math.max(0, 8 - front.length - back.length) }, () => "0");
  return [...front, ...zeros, ...back].slice(0, 4).join(":");
}

/** `--acl`: on where it names a secret. Files are read once, before any process is started. */
import { readFileSync } from "node:fs";
import type { LoginLimits } from "../auth/login-guard.ts";
import type { PasswordPolicy } from "../auth/password-policy.ts";
import { accessAlgorithms, readSigningKey } from "../auth/signing-key.ts";
import type { AccessAlgorithm } from "../auth/signing-key.ts";
import { Fault } from "../model/fault.ts";
import { parseDurationMs } from "./duration.ts";
import { parseCount, parseSuperflag } from "./superflag.ts";

/** Plain data: it travels to the children as a message. */
export interface AclConfig {
  /** base64; the first signs, each of them is believed. */
  readonly secrets: readonly string[];
  readonly algorithm: AccessAlgorithm;
  readonly accessTtlMs: number;
  readonly refreshTtlMs: number;
  /** Of the first user. */
  readonly password: string | undefined;
  readonly passwords: PasswordPolicy;
  readonly logins: LoginLimits;
}

const keys = [
  "secret-file",
  "access-ttl",
  "refresh-ttl",
  "jwt-alg",
  "password-file",
  "password-min",
  "login-attempts",
  "login-lock",
] as const;

/** The shortest password that is stored, in bytes. */
const passwordBytesMin = 6;

/** Throws Fault E_USAGE, with one line. */
export function readAclConfig(text: string): AclConfig | undefined {
  const given = parseSuperflag("acl", text, keys);
  const secretFiles = (given.get("secret-file") ?? "").split(",").filter((file) => file !== "");
  if (secretFiles.length === 0) {
    const [other] = given.keys();
    if (other === undefined || other === "secret-file") return undefined;
    throw new Fault("E_USAGE", `--acl: ${other} says nothing without secret-file`);
  }
  const word = given.get("jwt-alg") ?? "HS256";
  const algorithm = accessAlgorithms.find((name) => name === word);
  if (algorithm === undefined) {
    throw new Fault(
      "E_USAGE",
      `--acl jwt-alg: one of ${accessAlgorithms.join(", ")}, not "${word}"`,
    );
  }
  return {
    secrets: secretFiles.map((file) => readSecret(file.trim(), algorithm).toString("base64")),
    algorithm,
    accessTtlMs: parseTtl("access-ttl", given.get("access-ttl") ?? "6h"),
    refreshTtlMs: parseTtl("refresh-ttl", given.get("refresh-ttl") ?? "30d"),
    password: readPassword(given.get("password-file") ?? ""),
    passwords: {
      charactersMin: parseCount("--acl password-min", given.get("password-min") ?? "0"),
    },
    logins: {
      attempts: parseAttempts(given.get("login-attempts") ?? "10"),
      lockMs: parseTtl("login-lock", given.get("login-lock") ?? "15m"),
    },
  };
}

function parseAttempts(text: string): number {
  const attempts = parseCount("--acl login-attempts", text);
  if (attempts >= 1) return attempts;
  throw new Fault("E_USAGE", `--acl login-attempts: at least 1, not "${text}"`);
}

/** Every byte counts, the line's end too, as in the reference: tokens of one serve the other. */
function readSecret(file: string, algorithm: AccessAlgorithm): Buffer {
  const secret = readFile("secret-file", file);
  const key = readSigningKey(algorithm, secret);
  if (typeof key !== "string") return secret;
  throw new Fault("E_USAGE", `--acl secret-file: ${file} ${key}`);
}

function readPassword(file: string): string | undefined {
  if (file === "") return undefined;
  const password = readFile("password-file", file)
    .toString()
    .replace(/\r?\n$/, "");
  if (Buffer.byteLength(password) >= passwordBytesMin) return password;
  throw new Fault(
    "E_USAGE",
    `--acl password-file: the password in ${file} is shorter than ${passwordBytesMin} bytes`,
  );
}

function readFile(key: string, file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    throw new Fault("E_USAGE", `--acl ${key}: ${file} cannot be read`, { cause: error });
  }
}

/** Days are known here, as in the reference. */
function parseTtl(key: string, text: string): number {
  const days = /^(?<days>\d+)d$/.exec(text)?.groups?.["days"];
  const ms = days === undefined ? parseDurationMs(`--acl ${key}`, text) : Number(days) * 86_400_000;
  if (ms >= 1000) return ms;
  throw new Fault("E_USAGE", `--acl ${key}: at least a second, not "${text}"`);
}

/**
 * Secrets among the settings of a command. Everybody on the machine may read the list of processes, so a secret is
 * better given by the environment, by a settings file, or by the name of a file that holds it: `--key @FILE`,
 * `--security "token=@FILE"`. One that stands in a flag works all the same, as in the reference, and is spoken of.
 */
import { readFileSync } from "node:fs";
import type { Command } from "commander";
import { Fault } from "../model/fault.ts";

/** Options that are a secret as a whole. */
const whole = ["token", "key", "accessToken", "postSecret"];

/** Options that hold settings, one of which is a secret. */
const within: Readonly<Record<string, string>> = {
  security: "token",
  creds: "password",
  kafkaLogin: "password",
  cdc: "sasl-password",
};

/** Puts what the files hold in the place of their names. Gives the flags that show a secret. Throws Fault E_USAGE. */
export function resolveSecrets(command: Command): readonly string[] {
  const shown: string[] = [];
  for (const [name, value] of Object.entries(command.opts())) {
    if (typeof value !== "string") continue;
    const source = command.getOptionValueSource(name);
    const flag = flagOf(name);
    const resolved = resolveOption(name, value, flag);
    if (resolved === undefined) continue;
    if (resolved !== value) command.setOptionValueWithSource(name, resolved, source);
    else if (source === "cli") shown.push(flag);
  }
  return shown;
}

/** undefined where there is no secret; the same text where it stands there itself. */
function resolveOption(name: string, value: string, flag: string): string | undefined {
  if (whole.includes(name)) return value === "" ? undefined : readReference(value, flag);
  const key = within[name];
  if (key === undefined) return undefined;
  let isThere = false;
  const parts = value.split(";").map((part) => {
    const equals = part.indexOf("=");
    if (equals < 0 || part.slice(0, equals).trim().toLowerCase() !== key) return part;
    const given = part.slice(equals + 1).trim();
    if (given === "") return part;
    isThere = true;
    if (!given.startsWith("@")) return part;
    const secret = readReference(given, `${flag} ${key}`);
    if (!secret.includes(";")) return `${key}=${secret}`;
    throw new Fault("E_USAGE", `${flag} ${key}: what the file holds must have no ";" in it`);
  });
  return isThere ? parts.join(";") : undefined;
}

/** The text of a file without the end of its last line, for `@FILE`; any other text as it is. */
function readReference(text: string, flag: string): string {
  if (!text.startsWith("@")) return text;
  const file = text.slice(1);
  let secret: string;
  try {
    secret = readFileSync(file, "utf8").replace(/\r?\n$/, "");
  } catch (error) {
    throw new Fault("E_USAGE", `${flag}: ${file} cannot be read`, { cause: error });
  }
  if (secret === "") throw new Fault("E_USAGE", `${flag}: ${file} is empty`);
  return secret;
}

export function describeShown(flags: readonly string[]): string {
  const [flag = ""] = flags;
  const variable = `WEFT_${flag.slice(2).replaceAll("-", "_").toUpperCase()}`;
  return (
    `warning: the secret in ${flags.join(", ")} shows in the list of processes; ` +
    `give it as @FILE, or in ${variable}`
  );
}

function flagOf(name: string): string {
  return `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

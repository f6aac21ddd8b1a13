// Options of the tools: `--help` lists them, and what is wrong with one is told in a line, with exit 2.
import { parseArgs } from "node:util";

/**
 * Values by name. An option is `[default, what it is for]`; one whose default is a number takes numbers from 0 on. `does`:
 * what the tool is for, in a sentence.
 */
export function readOptions(command, does, options) {
  const known = Object.fromEntries(Object.keys(options).map((name) => [name, { type: "string" }]));
  let given;
  try {
    ({ values: given } = parseArgs({ options: { ...known, help: { type: "boolean" } } }));
  } catch (error) {
    return refuseOption(command, error.message.split(". ")[0]);
  }
  if (given.help === true) {
    process.stdout.write(usageOf(command, does, options));
    process.exit(0);
  }
  return Object.fromEntries(
    Object.entries(options).map(([name, [initial]]) => {
      const text = given[name];
      if (text === undefined) return [name, initial];
      return [name, typeof initial === "number" ? toNumber(command, name, text) : text];
    }),
  );
}

function toNumber(command, name, text) {
  const number = Number(text);
  if (text.trim() === "" || !Number.isFinite(number) || number < 0) {
    refuseOption(command, `--${name} takes a number, not "${text}"`);
  }
  return number;
}

/** Ends the tool: `message` is what is wrong with an option. */
export function refuseOption(command, message) {
  process.stderr.write(`${command}: ${message}; see ${command} --help\n`);
  process.exit(2);
}

function usageOf(command, does, options) {
  const lines = Object.entries(options).map(([name, [initial, about]]) => {
    const standard = initial === undefined || initial === "" ? "" : ` (${initial})`;
    return `  ${`--${name}`.padEnd(12)} ${about}${standard}\n`;
  });
  return `${command} [options]\n${does}\n\n${lines.join("")}`;
}

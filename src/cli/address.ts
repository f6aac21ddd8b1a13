/** HOST:PORT, read and shown. */
import { Fault } from "../model/fault.ts";

export interface Address {
  readonly host: string;
  readonly port: number;
}

/** Reads `HOST:PORT`, `[HOST]:PORT` or `:PORT`, which is every address. `flag`: which says so. */
export function parseAddress(text: string, flag = "--http"): Address {
  const match = /^(?:\[(?<six>[^\]]+)\]|(?<host>[^:]*)):(?<port>\d{1,5})$/.exec(text);
  const port = Number(match?.groups?.["port"]);
  if (match === null || port > 65535) {
    throw new Fault("E_USAGE", `${flag}: "${text}" is not of the form HOST:PORT`);
  }
  const host = match.groups?.["six"] ?? match.groups?.["host"] ?? "";
  return { host: host === "" ? "0.0.0.0" : host, port };
}

function printUrl({ host, port }: Address, isTls: boolean): string {
  const name = host.includes(":") && !host.startsWith("[") ? `[${host}]` : host;
  return `${isTls ? "https" : "http"}://${name}:${port}`;
}

/** What can be opened here: an address that stands for all of them becomes loopback. */
export function urlOfAddress({ host, port }: Address, isTls = false): string {
  const open = host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "::1" : host;
  return printUrl({ host: open, port }, isTls);
}

/** What was bound, and for an address that stands for all of them that it does. */
export function describeBound(address: Address, isTls = false): string {
  const isEvery = address.host === "0.0.0.0" || address.host === "::";
  const url = printUrl(address, isTls);
  return isEvery ? `${url}, every address of this machine` : url;
}

/** Whether only this machine reaches it. */
export function isLoopbackHost(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127(?:\.\d{1,3}){3}$/.test(host);
}

/** Where calls of gRPC are taken: at the address of `--grpc`, else a thousand above the port for HTTP, where that is free. */
import type { Socket } from "node:net";
import { Fault } from "../model/fault.ts";
import { parseAddress, type Address } from "./address.ts";
import { listen } from "./listening.ts";

/** Plain data. Undefined in its place: off. */
export interface GrpcConfig {
  /** Undefined: nobody has said where. */
  readonly address: Address | undefined;
}

/** `--no-grpc`, and `false` in a settings file, are false. On unless it is turned off. */
export function parseGrpc(given: string | boolean | undefined): GrpcConfig | undefined {
  if (given === false || given === "off" || given === "false") return undefined;
  if (given === undefined || given === "" || given === true || given === "on") {
    return { address: undefined };
  }
  return { address: parseAddress(given, "--grpc") };
}

/** Above the port for HTTP, as the reference's 9080 above its 8080. */
const offset = 1000;
const portMax = 65_535;

export interface GrpcListener {
  /** What was bound, or in words why nothing was. */
  readonly where: Address | string;
  close(): void;
}

/**
 * `port`: of HTTP. Undefined where it is off. Fault E_STARTUP for an address that was asked for and cannot be had; one
 * that nobody has asked for is done without.
 */
export async function listenForGrpc(
  { grpc, host }: { readonly grpc: GrpcConfig | undefined; readonly host: string },
  port: number,
  accept: (socket: Socket) => void,
): Promise<GrpcListener | undefined> {
  if (grpc === undefined) return undefined;
  const wanted = grpc.address ?? { host, port: port + offset };
  if (wanted.port > portMax) {
    return without(`port ${wanted.port} does not exist; choose another with --grpc`);
  }
  try {
    const server = await listen(wanted, accept, "--grpc");
    const bound = server.address();
    const isTcp = bound !== null && typeof bound !== "string";
    const where = { host: wanted.host, port: isTcp ? bound.port : wanted.port };
    return { where, close: () => void server.close() };
  } catch (error) {
    if (grpc.address !== undefined || !(error instanceof Fault)) throw error;
    return without(error.message);
  }
}

function without(why: string): GrpcListener {
  return { where: why, close: () => {} };
}

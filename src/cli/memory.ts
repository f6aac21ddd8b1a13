/** `--memory`: one bound for all processes of a server, divided among them before any is started. */
import { initialSwitches } from "../admin/controls.ts";
import { Fault } from "../model/fault.ts";
import { findMachineMemory } from "./machine-memory.ts";
import type { Role } from "./roles.ts";
import { parseCount } from "./superflag.ts";

const mebibyte = 1024 * 1024;

/** Plain data: it travels to the children as a message. All in bytes. */
export interface MemoryConfig {
  /** Of all processes together. */
  readonly totalBytes: number;
  /** Of each process that answers requests. */
  readonly workerBytes: number;
  /** Of a writer that does nothing else. */
  readonly writerBytes: number;
  /** Mebibytes of each process's cache. */
  readonly cacheMb: number;
  /** What requests may hold in each process that answers them: bodies, columns, answers that wait for their reader. */
  readonly requestBytes: number;
}

/** What is known when the bound is divided. */
interface MemoryParts {
  readonly workers: number;
  /** Whether the writer is a process of its own. */
  readonly hasWriter: boolean;
  /** Of resolvers that run beside the database; 0 for none. */
  readonly lambdaBytes: number;
  /** Whether a process archives the store. */
  readonly hasArchive: boolean;
  /** Mebibytes of each process's cache; undefined where no setting says so. */
  readonly cacheMb: number | undefined;
}

/** The supervisor, which holds nothing of a request. */
const supervisorBytes = 64 * mebibyte;
/** The process that archives: some blocks of rows at a time. */
const archiveBytes = 256 * mebibyte;
/** Code, compiled functions, the young heap: what a process has that answers nothing. */
const idleBytes = 160 * mebibyte;
/** Of a cache that no setting mentions: a quarter of the process's share, and no more than this. */
const cacheMbMax = initialSwitches.cacheMb;
const workerBytesMin = 256 * mebibyte;
/** A writer's share of a worker's: it gathers changes and applies them, and keeps no answers. */
const writerShare = 0.5;

/** Fault E_USAGE, one line, where it is too little to serve. */
export function divideMemory(
  text: string | undefined,
  parts: MemoryParts,
  machineBytes: () => number = findMachineMemory,
): MemoryConfig {
  const totalBytes =
    text === undefined ? Math.floor(machineBytes() * 0.75) : parseCount("--memory", text);
  // Resolvers have a bound of their own, which is watched from outside: they may take half of what there is.
  const lambdaBytes = Math.min(parts.lambdaBytes, totalBytes / 2);
  const shares = parts.workers + (parts.hasWriter ? writerShare : 0);
  const besideBytes = supervisorBytes + lambdaBytes + (parts.hasArchive ? archiveBytes : 0);
  const share = Math.floor((totalBytes - besideBytes) / shares);
  // On a small machine nobody has asked for a bound: it serves with the least that a process can work with.
  const workerBytes = text === undefined ? Math.max(share, workerBytesMin) : share;
  if (workerBytes < workerBytesMin) {
    const leastMb = Math.ceil((workerBytesMin * shares + besideBytes) / mebibyte);
    const have = `${Math.floor(totalBytes / mebibyte)}MB`;
    throw new Fault(
      "E_USAGE",
      `--memory: ${have} is too little for ${parts.workers} workers, which take ${leastMb}MB; fewer --workers take less`,
    );
  }
  const cacheMb = parts.cacheMb ?? Math.min(cacheMbMax, Math.floor(workerBytes / 4 / mebibyte));
  return {
    totalBytes,
    workerBytes,
    writerBytes: Math.floor(workerBytes * writerShare),
    cacheMb,
    requestBytes: Math.max(
      Math.floor(workerBytes / 4),
      workerBytes - idleBytes - Math.min(cacheMb * mebibyte, workerBytes / 2),
    ),
  };
}

/** The bound of V8's heap, in MiB; buffers lie beside it. A process that passes it ends, and is started again. */
export function heapMb(memory: MemoryConfig, role: Role): number | undefined {
  if (role === "lambda") return undefined;
  if (role === "backup") return archiveBytes / mebibyte;
  const bytes = role === "writer" || role === "node" ? memory.writerBytes : memory.workerBytes;
  return Math.floor((bytes * 0.8) / mebibyte);
}

/** `weft cluster`: begins the log of several machines, and asks after them. */
import { randomBytes } from "node:crypto";
import { systemClock } from "../base/clock.ts";
import { silentLogger } from "../base/log.ts";
import { foundLog } from "../cluster/founding.ts";
import { encodePosition } from "../cluster/position.ts";
import { openLog } from "../log/open.ts";
import type { ReplicatedLog } from "../log/replicated-log.ts";
import type { ClusterFacts } from "../model/cluster-facts.ts";
import { Fault } from "../model/fault.ts";
import type { UserKey } from "../stores/encryption.ts";
import { openNodeStore, openWriter } from "../stores/open.ts";
import { readIdentity } from "../stores/place.ts";
import { makeAdminClient } from "./admin-client.ts";
import { claimForServing } from "./claim.ts";
import type {
  ClusterAskFlags,
  ClusterEvictFlags,
  ClusterInitFlags,
  ClusterLeaveFlags,
  ClusterLogFlags,
} from "./cluster-commands.ts";
import { readLogFlags } from "./cluster-config.ts";
import { readEncryption } from "./encryption.ts";
import { say } from "./log.ts";

export async function runClusterInit(options: ClusterInitFlags): Promise<void> {
  const { data } = options;
  const log = await openFlagged(options);
  try {
    if (data === undefined) {
      const storeId = randomBytes(16).toString("hex");
      await foundLog(log, { storeId, lastTs: 0, clock: systemClock });
      say(`the log is begun, for the store ${storeId}: start the machines`);
      return;
    }
    const claim = await claimForServing(data);
    try {
      const storeId = await beginWith(data, log, readEncryption(options.encryption));
      say(`the log is begun with the store ${storeId} at ${data}: start that machine first`);
    } finally {
      await claim.release();
    }
  } finally {
    await log.close();
  }
}

const factFields =
  "node role term applied kept format leader problem members { node address leads applied slots formats isAway problem }";

export async function runClusterStatus(options: ClusterAskFlags): Promise<void> {
  const ask = makeAdminClient(options);
  const { cluster } = await ask<{ cluster: ClusterFacts | null }>(`{ cluster { ${factFields} } }`);
  if (cluster === null) throw new Fault("E_STARTUP", "that machine is alone (--cluster)");
  process.stdout.write(options.json ? `${JSON.stringify(cluster)}\n` : printStatus(cluster));
}

export async function runClusterResign(options: ClusterAskFlags): Promise<void> {
  const ask = makeAdminClient(options);
  const data = await ask<{ resignLead: { response: { message: string } } }>(
    "mutation { resignLead { response { message } } }",
  );
  say(data.resignLead.response.message);
}

export async function runClusterFinalize(options: ClusterAskFlags): Promise<void> {
  const ask = makeAdminClient(options);
  const data = await ask<{ finalizeCluster: { response: { message: string } } }>(
    "mutation { finalizeCluster { response { message } } }",
  );
  say(data.finalizeCluster.response.message);
}

export async function runClusterEvict(name: string, options: ClusterEvictFlags): Promise<void> {
  const ask = makeAdminClient(options);
  const input = `{ node: ${JSON.stringify(name)}, force: ${options.force} }`;
  const data = await ask<{ evictMachine: { response: { message: string } } }>(
    `mutation { evictMachine(input: ${input}) { response { message } } }`,
  );
  say(data.evictMachine.response.message);
}

function printStatus(facts: ClusterFacts): string {
  const { node, role, term, applied, kept, format, leader, problem, members } = facts;
  const lines = [
    `${node} is ${role}, term ${term}; it has applied record ${applied}, and ${kept} is kept`,
    `leader: ${leader ?? "none that can be reached"}; rows have format ${format}`,
    ...(typeof problem === "string" ? [`problem: ${problem}`] : []),
  ];
  const troubled = members.filter(({ node: name, problem: one }) => one && name !== node);
  const head = ["MACHINE", "ADDRESS", "ROLE", "APPLIED", "PROCESSES", "FORMATS"];
  const named = [...members].sort((a, b) => (a.node < b.node ? -1 : 1));
  const rows = named.map((one) => [
    one.node,
    one.address,
    one.node === node && role === "stopped" ? "stopped" : roleOf(one),
    one.isAway ? "-" : String(one.applied),
    String(one.slots.length),
    one.formats.join(" "),
  ]);
  const widths = head.map((word, i) =>
    Math.max(word.length, ...rows.map((row) => (row[i] ?? "").length)),
  );
  const table = [head, ...rows].map((row) =>
    row
      .map((cell, i) => cell.padEnd(widths[i] ?? 0))
      .join("  ")
      .trimEnd(),
  );
  const problems = troubled.map((one) => `${one.node} could not lead: ${one.problem}`);
  const foot = problems.length === 0 ? [] : ["", ...problems];
  return `${[...lines, "", ...table, ...foot].join("\n")}\n`;
}

function roleOf({ leads, isAway }: ClusterFacts["members"][number]): string {
  if (leads) return "leads";
  return isAway ? "away" : "follows";
}

export async function runClusterLeave({ data: dir, encryption }: ClusterLeaveFlags): Promise<void> {
  const claim = await claimForServing(dir);
  try {
    await readIdentity(dir);
    const writer = await openWriter({
      dir,
      encryption: readEncryption(encryption),
      logger: silentLogger,
      clock: systemClock,
      isLinked: false,
      leavesLog: true,
    });
    await writer.close();
  } finally {
    await claim.release();
  }
  say(`the store at ${dir} is a server's alone from now on`);
}

/** The store notes its place in the log, and opens only over it from then on. */
async function beginWith(
  dir: string,
  log: ReplicatedLog,
  encryption: UserKey | undefined,
): Promise<string> {
  const { storeId } = await readIdentity(dir);
  const node = await openNodeStore({
    dir,
    storeId,
    encryption,
    logger: silentLogger,
    clock: systemClock,
    isLinked: false,
  });
  try {
    if (node.position !== undefined) {
      throw new Fault("E_STARTUP", `the store at ${dir} is that of a log already`);
    }
    const snapshot = node.snapshot();
    const lastTs = snapshot.ts;
    snapshot.close();
    const point = await foundLog(log, { storeId, lastTs, clock: systemClock });
    node.apply([], encodePosition(point));
  } finally {
    await node.close();
  }
  return storeId;
}

function openFlagged(options: ClusterLogFlags): Promise<ReplicatedLog> {
  const flags = new Map([
    ["cell", options.cell],
    ["unsafe-single", String(options.unsafeSingle)],
  ] as const);
  const { log, cell, isSingle } = readLogFlags(options.log, flags, "--");
  return openLog({ url: log, isSingle }, { cell, clock: systemClock, flag: "--log", isMade: true });
}

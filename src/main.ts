// What a server stores, and the sockets between its processes, are for its user alone.
const given = process.umask(0o077);
const [, , command, role] = process.argv;
// A process of a server has no use for the commands, and is ready sooner without them.
if (command !== "__child") {
  const { runCli } = await import("./cli/cli.ts");
  await runCli(process.argv, given);
} else if (role === "snapshot") {
  const { runSnapshotChild } = await import("./cli/snapshot-child.ts");
  runSnapshotChild();
} else {
  const { runChild } = await import("./cli/child-port.ts");
  runChild(role);
}

import { runCli } from "./cli/cli.ts";

// What a server stores, and the sockets between its processes, are for its user alone.
const given = process.umask(0o077);
await runCli(process.argv, given);

// `npm run s3-gateway [-- --gateway FILE]`: backups and the archive go to a real S3 server, versitygw over a directory, and
// come back. It is built from the Go module proxy into a temporary folder. Status 75: there is no `go` here, so that
// nothing was tried.
import { spawn, spawnSync } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findFreePort, LiveServer, sleep } from "./live-server.mjs";
import { readOptions } from "./options.mjs";
import { root, setup } from "./setup.mjs";

const version = "v1.8.0";
const nothingTried = 75;
const account = { id: "weft-nightly", secret: "weft-nightly-secret" };

const { gateway: given } = readOptions(
  "s3-gateway",
  "Backs up to a real S3 server, and restores from it.",
  { gateway: ["", "a versitygw that is there already"] },
);
setup();
const folder = mkdtempSync(join(tmpdir(), "weft-s3-gateway-"));
let child;
process.on("exit", () => {
  child?.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

function buildGateway() {
  if (spawnSync("go", ["version"]).status !== 0) {
    process.stdout.write("s3-gateway: there is no go here: no backup went to a real S3 server\n");
    process.exit(nothingTried);
  }
  const bin = join(folder, "bin");
  const module = `github.com/versity/versitygw/cmd/versitygw@${version}`;
  const built = spawnSync("go", ["install", module], {
    env: { ...process.env, GOBIN: bin },
    encoding: "utf8",
  });
  if (built.status !== 0) throw new Error(`versitygw cannot be built: ${built.stderr}`);
  return join(bin, "versitygw");
}

function isListening(port) {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("error", () => resolve(false));
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
  });
}

/** Buckets are the directories of `objects`. */
async function startGateway(file, objects) {
  const port = await findFreePort();
  const user = ["--access", account.id, "--secret", account.secret];
  const sidecar = join(folder, "sidecar");
  mkdirSync(sidecar);
  // Attributes beside the objects: temporary folders need not have extended ones.
  const args = [...user, "--port", `127.0.0.1:${port}`, "posix", "--sidecar", sidecar, objects];
  child = spawn(file, args, { stdio: ["ignore", "ignore", "pipe"] });
  let output = "";
  child.stderr.on("data", (chunk) => (output = (output + chunk).slice(-5000)));
  for (let waited = 0; !(await isListening(port)); waited += 50) {
    if (child.exitCode !== null || waited > 30_000) throw new Error(`versitygw: ${output}`);
    await sleep(50);
  }
  return `http://127.0.0.1:${port}`;
}

function weft(env, ...args) {
  const done = spawnSync(process.execPath, [join(root, "bin", "weft"), ...args], {
    encoding: "utf8",
    maxBuffer: 1 << 30,
    env: { ...process.env, ...env },
  });
  return { status: done.status, text: done.stdout + done.stderr };
}

const objects = join(folder, "objects");
mkdirSync(join(objects, "copies"), { recursive: true });
const url = await startGateway(given === "" ? buildGateway() : given, objects);
const env = {
  AWS_ENDPOINT_URL: url,
  AWS_REGION: "us-east-1",
  AWS_ACCESS_KEY_ID: account.id,
  AWS_SECRET_ACCESS_KEY: account.secret,
};
const problems = [];

function expectText(result, status, words) {
  if (result.status === status && result.text.includes(words)) return;
  problems.push(`status ${result.status}, not ${status} with "${words}": ${result.text.trim()}`);
}
const ok = (words, ...args) => expectText(weft(env, ...args), 0, words);
const contentOf = (dir) => weft({}, "export", "--data", dir, "--to", "-").text;

const place = "s3://copies/shop/daily_1.x-y";
const data = join(folder, "data");
const server = new LiveServer(data, await findFreePort(), 2);
server.args.push("--no-sample", "--no-grpc");
await server.start();
const backups = 4;
for (let round = 0; round < backups; round++) {
  const lines = Array.from(
    { length: 20_000 },
    (_, i) => `_:n${i} <name> "${round} ${i} ${(i * 7919 * (round + 1)) % 104729}" .`,
  );
  await server.mutate(lines.join("\n"));
  ok("blocks are new", "backup", "--data", data, "--to", place);
}
await server.stop();
const listed = weft(env, "backup", "list", "--to", place).text.trim().split("\n");
if (listed.length !== backups) problems.push(`${listed.length} backups are listed`);
ok(`${backups} backups are sound`, "backup", "verify", "--to", place);
// More than the thousand names of a page.
const blocks = join(objects, "copies", "shop", "daily_1.x-y", "blocks");
const strays = Array.from({ length: 1200 }, (_, i) => `stray-${i}`);
for (const name of strays) writeFileSync(join(blocks, name), name);
ok(`${backups - 2} backups`, "backup", "prune", "--keep", "2", "--to", place);
const left = readdirSync(blocks).filter((name) => name.startsWith("stray-"));
if (left.length > 0) problems.push(`${left.length} blocks that nobody needs were not pruned`);
const restored = join(folder, "restored");
ok("holds backup", "restore", "--from", place, "--data", restored);
if (contentOf(restored) !== contentOf(data)) problems.push("the restored store differs");
ok("0 problems", "check", "--data", restored);

const list = ["backup", "list", "--to", place];
expectText(weft({ ...env, AWS_SECRET_ACCESS_KEY: "x" }, ...list), 1, "SignatureDoesNotMatch");
expectText(weft({ ...env, AWS_ACCESS_KEY_ID: "x" }, ...list), 1, "XAdminUserNotFound");
expectText(weft(env, "backup", "list", "--to", "s3://absent/x"), 1, "no such bucket");

const files = readdirSync(join(objects, "copies"), { recursive: true })
  .map((name) => join(objects, "copies", name))
  .filter((name) => statSync(name).isFile())
  .toSorted((a, b) => statSync(b).size - statSync(a).size);
truncateSync(files[0], Math.floor(statSync(files[0]).size / 2));
const damaged = weft(env, "backup", "verify", "--to", place);
if (damaged.status !== 1) problems.push(`a block that is cut in half is sound: ${damaged.text}`);
const half = join(folder, "half");
const refused = weft(env, "restore", "--from", place, "--data", half);
if (refused.status !== 1) problems.push(`a block that is cut in half is restored: ${refused.text}`);

for (const problem of problems) process.stdout.write(`s3-gateway: ${problem}\n`);
process.stdout.write(
  `s3-gateway: versitygw, ${backups} backups, ${files.length} objects: ${problems.length} problems\n`,
);
process.exitCode = problems.length === 0 ? 0 : 1;
process.exit();

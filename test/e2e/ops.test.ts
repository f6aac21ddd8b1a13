/** What `ops` and the Dockerfile say is what this server understands; the formats' own linters where they are. */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { root, runWeft } from "./server.ts";

const read = (name: string): string => readFileSync(join(root, name), "utf8");

async function expectFlags(args: readonly string[]): Promise<void> {
  expect(args[0]).toBe("serve");
  const { stdout } = await runWeft(["help", "serve"]);
  const flags = args.filter((arg) => arg.startsWith("--"));
  expect(flags.filter((flag) => !stdout.includes(`  ${flag} `))).toEqual([]);
  // Nobody from elsewhere is let in unasked.
  if (args.includes("0.0.0.0:8080")) expect(args).toContain("--anonymous");
}

interface Instruction {
  readonly name: string;
  readonly text: string;
}

function readDockerfile(name: string): Instruction[] {
  const lines = read(name).replaceAll("\\\n", " ").split("\n");
  return lines
    .filter((line) => /^[A-Z]/.test(line))
    .map((line) => ({ name: line.split(" ", 1)[0] ?? "", text: line.replace(/^\S+\s+/, "") }));
}

test.each(["Dockerfile", "ops/Dockerfile"])(
  "%s: files that are there, no root, a health check, a command that is understood",
  async (name) => {
    const all = readDockerfile(name);
    const of = (name: string): string[] =>
      all.filter((one) => one.name === name).map(({ text }) => text.replaceAll(/ +/g, " "));
    const copied = of("COPY")
      .filter((text) => !text.startsWith("--from"))
      .flatMap((text) => text.split(" ").slice(0, -1));
    expect(copied.filter((path) => !existsSync(join(root, path)))).toEqual([]);
    const last = all.findLastIndex(({ name }) => name === "FROM");
    const run = all.slice(last);
    expect(run.find(({ name }) => name === "USER")?.text).toBe("node");
    expect(run.some(({ name }) => name === "HEALTHCHECK")).toBe(true);
    expect(of("ENTRYPOINT")).toEqual(['["weft"]']);
    await expectFlags(JSON.parse(of("CMD")[0] ?? "") as string[]);
    // Of the package alone comes what is run; the registry is the only source.
    expect(of("RUN").join(" ")).not.toMatch(/curl|wget|apt|git /);
  },
);

test("compose.yaml: one service on loopback, a root that is not written", async () => {
  const { services, volumes } = parse(read("ops/compose.yaml")) as {
    services: { weft: Record<string, unknown> };
    volumes: object;
  };
  const { weft } = services;
  await expectFlags(weft["command"] as string[]);
  expect(weft).toMatchObject({
    read_only: true,
    cap_drop: ["ALL"],
    ports: ["127.0.0.1:8080:8080"],
  });
  expect(weft["volumes"]).toEqual(Object.keys(volumes).map((name) => `${name}:/data`));
});

interface Container {
  readonly args: string[];
  readonly ports: readonly { name: string; containerPort: number }[];
  readonly volumeMounts: readonly { name: string; mountPath: string }[];
  readonly securityContext: object;
  readonly [probe: string]: unknown;
}

interface Manifest {
  readonly kind: string;
  readonly spec: {
    readonly selector: { readonly matchLabels?: object };
    readonly ports: readonly { targetPort: string; port: number }[];
    readonly replicas: number;
    readonly volumeClaimTemplates: readonly { metadata: { name: string } }[];
    readonly template: {
      readonly metadata: { readonly labels: object };
      readonly spec: {
        readonly containers: readonly Container[];
        readonly volumes: readonly { name: string }[];
        readonly securityContext: object;
      };
    };
  };
}

test("kubernetes.yaml: labels, ports, probes and volumes belong together", async () => {
  const documents = parseAllDocuments(read("ops/kubernetes.yaml"));
  const faults = documents.flatMap((one) => ("errors" in one ? one.errors : []));
  expect(faults).toEqual([]);
  const [service, set] = documents.map((one) => (one as { toJS(): unknown }).toJS() as Manifest);
  expect([service?.kind, set?.kind]).toEqual(["Service", "StatefulSet"]);
  const template = set?.spec.template;
  expect(template?.metadata.labels).toEqual(set?.spec.selector.matchLabels);
  expect(template?.metadata.labels).toEqual(service?.spec.selector);
  expect(set?.spec.replicas).toBe(1);
  expect(template?.spec.securityContext).toMatchObject({ runAsNonRoot: true });
  const [container] = template?.spec.containers ?? [];
  await expectFlags(container?.args ?? []);
  expect(container?.securityContext).toMatchObject({
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
  });
  expect(service?.spec.ports.map(({ targetPort, port }) => [targetPort, port])).toEqual(
    container?.ports.map(({ name, containerPort }) => [name, containerPort]),
  );
  const probes = ["startupProbe", "livenessProbe", "readinessProbe"].map(
    (name) => container?.[name],
  );
  expect(probes).toMatchObject(
    ["/health?live", "/health?live", "/health"].map((path) => ({
      httpGet: { path, port: "http" },
    })),
  );
  const known = [
    ...(set?.spec.volumeClaimTemplates ?? []).map(({ metadata }) => metadata.name),
    ...(template?.spec.volumes ?? []).map(({ name }) => name),
  ];
  expect(container?.volumeMounts.map(({ name }) => name).sort()).toEqual(known.sort());
});

test("weft.service: a command that is understood; systemd finds nothing wrong", async () => {
  const unit = read("ops/weft.service");
  const [, command = ""] = /^ExecStart=\/usr\/local\/bin\/weft (.*)$/m.exec(unit) ?? [];
  await expectFlags(command.split(" "));
  if (spawnSync("systemd-analyze", ["--version"]).status !== 0) return;
  const folder = mkdtempSync(join(tmpdir(), "weft-unit-"));
  const file = join(folder, "weft.service");
  writeFileSync(file, unit.replace("/usr/local/bin/weft", process.execPath));
  expect(execFileSync("systemd-analyze", ["verify", file], { encoding: "utf8" })).toBe("");
  rmSync(folder, { recursive: true });
});

test("compose-cluster.yaml: machines whose settings are read, each with a name and a disk of its own", async () => {
  const { services, volumes } = parse(read("ops/compose-cluster.yaml"), { merge: true }) as {
    services: Record<string, { command?: string[]; volumes: string[]; read_only?: boolean }>;
    volumes: object;
  };
  const machines = Object.entries(services).filter(([name]) => name !== "log");
  expect(machines.map(([name]) => name)).toEqual(["db1", "db2", "db3"]);
  const { stdout } = await runWeft(["help", "serve"]);
  for (const [name, { command = [], volumes: disks, read_only: isSealed }] of machines) {
    const flags = command.filter((arg) => arg.startsWith("--")).map((arg) => arg.split("=")[0]);
    expect(flags.filter((flag) => !stdout.includes(`  ${flag} `))).toEqual([]);
    const cluster = command.find((arg) => arg.startsWith("--cluster="));
    expect(cluster).toContain(`; node=${name}; address=${name}:7443; `);
    expect(disks).toContain(`${name}:/data`);
    expect(Object.keys(volumes)).toContain(name);
    expect(isSealed).toBe(true);
  }
});

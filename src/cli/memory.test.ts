// Goal: the bound of all processes is what there is, and its shares add up to it.
import { describe, expect, it } from "vitest";
import { findMachineMemory } from "./machine-memory.ts";
import { divideMemory, heapMb } from "./memory.ts";

const gibibyte = 1024 ** 3;
const mebibyte = 1024 ** 2;

describe("the memory there is", () => {
  const found = (files: Record<string, string>): number =>
    findMachineMemory((file) => files[file], 16 * gibibyte);

  it("is the machine's without control groups, or where they set no bound", () => {
    expect(found({})).toBe(16 * gibibyte);
    const files = { "/proc/self/cgroup": "0::/\n", "/sys/fs/cgroup/memory.max": "max\n" };
    expect(found(files)).toBe(16 * gibibyte);
  });

  it("is the lowest bound of the groups above, version 2", () => {
    expect(
      found({
        "/proc/self/cgroup": "0::/system.slice/weft.service\n",
        "/sys/fs/cgroup/system.slice/weft.service/memory.max": "max\n",
        "/sys/fs/cgroup/system.slice/memory.max": `${2 * gibibyte}\n`,
      }),
    ).toBe(2 * gibibyte);
  });

  it("is the container's where only its root can be seen, version 1", () => {
    expect(
      found({
        "/proc/self/cgroup": "12:cpu,cpuacct:/x\n4:memory:/docker/abc\n",
        "/sys/fs/cgroup/memory/memory.limit_in_bytes": `${gibibyte}\n`,
      }),
    ).toBe(gibibyte);
    const none = "9223372036854771712\n";
    expect(
      found({
        "/proc/self/cgroup": "4:memory:/\n",
        "/sys/fs/cgroup/memory/memory.limit_in_bytes": none,
      }),
    ).toBe(16 * gibibyte);
  });
});

describe("its division", () => {
  const parts = {
    workers: 2,
    hasWriter: false,
    hasArchive: false,
    lambdaBytes: 0,
    cacheMb: undefined,
  };

  it("gives each process its share, and requests what code and caches leave", () => {
    const memory = divideMemory("2GB", parts);
    expect(memory.totalBytes).toBe(2 * gibibyte);
    expect(2 * memory.workerBytes).toBeLessThanOrEqual(2 * gibibyte);
    expect(memory.cacheMb).toBe(248);
    expect(memory.requestBytes).toBeGreaterThan(500 * mebibyte);
    expect(memory.requestBytes).toBeLessThan(memory.workerBytes - 248 * mebibyte);
    expect(heapMb(memory, "worker")).toBeLessThan(memory.workerBytes / mebibyte);
    expect(heapMb(memory, "lambda")).toBeUndefined();
  });

  it("counts a writer and resolvers beside them", () => {
    const memory = divideMemory("4GB", {
      ...parts,
      workers: 3,
      hasWriter: true,
      hasArchive: false,
      lambdaBytes: 512 * mebibyte,
    });
    const sum = 3 * memory.workerBytes + memory.writerBytes + 512 * mebibyte;
    expect(sum).toBeLessThanOrEqual(4 * gibibyte);
    expect(sum).toBeGreaterThan(3.9 * gibibyte);
  });

  it("serves on a small machine where nobody has asked for a bound", () => {
    const memory = divideMemory(undefined, parts, () => 512 * mebibyte);
    expect(memory.workerBytes).toBe(256 * mebibyte);
    expect(divideMemory(undefined, parts, () => 4 * gibibyte).totalBytes).toBe(3 * gibibyte);
  });

  it("refuses in a line what is too little", () => {
    expect(() => divideMemory("300MB", parts)).toThrow(
      "--memory: 300MB is too little for 2 workers, which take 576MB; fewer --workers take less",
    );
  });
});

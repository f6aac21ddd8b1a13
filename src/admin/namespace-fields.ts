/** The fields about namespaces as a whole: what they hold, and what they may. They are this server's own. */
import type {
  KnownNamespace,
  NamespaceQuota,
  NamespaceUsage,
  QuotaChange,
} from "../engine/namespace-quotas.ts";
import type { OpenEngine } from "../engine/open.ts";
import { Fault } from "../model/fault.ts";
import type { FieldTable } from "./field.ts";

interface QuotaInput {
  readonly namespaceId: number;
  readonly facts?: number | string | null;
  readonly bytes?: number | string | null;
  readonly requests?: number | null;
}

interface CountArguments {
  readonly count?: boolean | null;
}

/** `engine` undefined: there is one namespace. */
export function makeNamespaceFields(
  engine: OpenEngine | undefined,
  nowMs: () => number,
): FieldTable {
  if (engine === undefined) return {};
  const show = async (namespace: number, counts: boolean): Promise<object> => {
    const known = engine.quotas.table.get(namespace);
    if (!counts) return showNamespace(namespace, known, known?.usage);
    const { facts, bytes } = await engine.countNamespace(namespace);
    return showNamespace(namespace, known, { facts, bytes, countedMs: nowMs() });
  };
  return {
    "Query.namespaces": async ({ count }: CountArguments) => {
      const shown: object[] = [];
      // One after another: each count is in slices, and all at once they would have no end.
      for (const namespace of await engine.namespaces()) {
        shown.push(await show(namespace, count ?? false));
      }
      return shown;
    },
    "Query.currentNamespace": ({ count }: CountArguments, { principal }) =>
      show(principal.namespace, count ?? false),
    "Mutation.setNamespaceQuota": async ({ input }: { input: QuotaInput }) => {
      const { namespaceId } = input;
      await mustExist(engine, namespaceId);
      await engine.quotas.change(namespaceId, {
        facts: readBound("facts", input.facts),
        bytes: readBound("bytes", input.bytes),
        requests: readBound("requests", input.requests),
      });
      return { namespace: await show(namespaceId, false) };
    },
    "Mutation.dropNamespaceData": async ({ input }: { input: { namespaceId: number } }) => {
      const { namespaceId } = input;
      await mustExist(engine, namespaceId);
      await engine.alter({ kind: "dropData" }, namespaceId);
      return { namespaceId, message: "Dropped the data of the namespace successfully" };
    },
  };
}

async function mustExist(engine: OpenEngine, namespace: number): Promise<void> {
  if ((await engine.namespaces()).includes(namespace)) return;
  throw new Fault("E_NAMESPACE", `there is no namespace ${namespace}`);
}

/** undefined: not said. */
function readBound(
  name: keyof QuotaChange,
  given: number | string | null | undefined,
): number | null | undefined {
  if (given === undefined || given === null) return given;
  const bound = Number(given);
  const isWhole = Number.isSafeInteger(bound) && bound >= 0;
  if (name === "requests" ? bound > 0 && Number.isFinite(bound) : isWhole) return bound;
  const wanted = name === "requests" ? "a number of requests a second above 0" : "a whole number";
  throw new Fault("E_NAMESPACE", `setNamespaceQuota ${name}: ${given} is not ${wanted}`);
}

function showNamespace(
  id: number,
  known: KnownNamespace | undefined,
  usage: NamespaceUsage | undefined,
): object {
  const quota: NamespaceQuota = known?.quota ?? {};
  return {
    id,
    quota: {
      facts: quota.facts ?? null,
      bytes: quota.bytes ?? null,
      requests: quota.requests ?? null,
    },
    usage:
      usage === undefined
        ? null
        : {
            facts: usage.facts,
            bytes: usage.bytes,
            countedAt: new Date(usage.countedMs).toISOString(),
          },
  };
}

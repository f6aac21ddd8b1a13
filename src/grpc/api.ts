/**
 * The messages of the clients' protocol (service `api.Dgraph`): names and numbers of fields as they travel, and what
 * they are here once read. Numbers of 64 bits are read as numbers: start times and uids end at 2^53.
 */
import protobuf from "protobufjs/light.js";
import { weighMessage } from "./message-weight.ts";
import { frame, type Framed } from "./wire.ts";

interface Field {
  readonly type: string;
  readonly id: number;
  readonly rule?: "repeated";
  readonly keyType?: string;
}

/** `name: [number, type]`; `type[]` for a list, `map<key,type>` for a map. */
type Fields = Readonly<Record<string, readonly [number, string]>>;

function message(fields: Fields): { readonly fields: Record<string, Field> } {
  const made: Record<string, Field> = {};
  for (const [name, [id, type]] of Object.entries(fields)) {
    const map = /^map<(\w+),(\w+)>$/.exec(type);
    if (map !== null) made[name] = { id, keyType: map[1] ?? "", type: map[2] ?? "" };
    else if (type.endsWith("[]")) made[name] = { id, type: type.slice(0, -2), rule: "repeated" };
    else made[name] = { id, type };
  }
  return { fields: made };
}

/** Enumerations travel as numbers, so they are int32 here. */
const root = protobuf.Root.fromJSON({
  nested: {
    api: {
      nested: {
        Request: message({
          startTs: [1, "uint64"],
          query: [4, "string"],
          vars: [5, "map<string,string>"],
          readOnly: [6, "bool"],
          bestEffort: [7, "bool"],
          mutations: [12, "Mutation[]"],
          commitNow: [13, "bool"],
          respFormat: [14, "int32"],
          hash: [15, "string"],
        }),
        Response: message({
          json: [1, "bytes"],
          txn: [2, "TxnContext"],
          latency: [3, "Latency"],
          metrics: [4, "Metrics"],
          uids: [12, "map<string,string>"],
          rdf: [13, "bytes"],
        }),
        Mutation: message({
          setJson: [1, "bytes"],
          deleteJson: [2, "bytes"],
          setNquads: [3, "bytes"],
          delNquads: [4, "bytes"],
          set: [5, "NQuad[]"],
          del: [6, "NQuad[]"],
          cond: [9, "string"],
          commitNow: [14, "bool"],
        }),
        Operation: message({
          schema: [1, "string"],
          dropAttr: [2, "string"],
          dropAll: [3, "bool"],
          dropOp: [4, "int32"],
          dropValue: [5, "string"],
          runInBackground: [6, "bool"],
        }),
        Payload: message({ data: [1, "bytes"] }),
        TxnContext: message({
          startTs: [1, "uint64"],
          commitTs: [2, "uint64"],
          aborted: [3, "bool"],
          keys: [4, "string[]"],
          preds: [5, "string[]"],
          hash: [6, "string"],
        }),
        Check: message({}),
        Version: message({ tag: [1, "string"] }),
        Latency: message({
          parsingNs: [1, "uint64"],
          processingNs: [2, "uint64"],
          encodingNs: [3, "uint64"],
          assignTimestampNs: [4, "uint64"],
          totalNs: [5, "uint64"],
        }),
        Metrics: message({ numUids: [1, "map<string,uint64>"] }),
        NQuad: message({
          subject: [1, "string"],
          predicate: [2, "string"],
          objectId: [3, "string"],
          objectValue: [4, "Value"],
          lang: [6, "string"],
          facets: [7, "Facet[]"],
          namespace: [8, "uint64"],
        }),
        Value: {
          oneofs: {
            val: {
              oneof: [
                "defaultVal",
                "bytesVal",
                "intVal",
                "boolVal",
                "strVal",
                "doubleVal",
                "geoVal",
                "dateVal",
                "datetimeVal",
                "passwordVal",
                "uidVal",
                "bigfloatVal",
                "vfloat32Val",
              ],
            },
          },
          ...message({
            defaultVal: [1, "string"],
            bytesVal: [2, "bytes"],
            intVal: [3, "int64"],
            boolVal: [4, "bool"],
            strVal: [5, "string"],
            doubleVal: [6, "double"],
            geoVal: [7, "bytes"],
            dateVal: [8, "bytes"],
            datetimeVal: [9, "bytes"],
            passwordVal: [10, "string"],
            uidVal: [11, "uint64"],
            bigfloatVal: [12, "bytes"],
            vfloat32Val: [13, "bytes"],
          }),
        },
        Facet: message({ key: [1, "string"], value: [2, "bytes"], valType: [3, "int32"] }),
        LoginRequest: message({
          userid: [1, "string"],
          password: [2, "string"],
          refreshToken: [3, "string"],
          namespace: [4, "uint64"],
        }),
        Jwt: message({ accessJwt: [1, "string"], refreshJwt: [2, "string"] }),
        RunDQLRequest: message({
          dqlQuery: [1, "string"],
          vars: [2, "map<string,string>"],
          readOnly: [3, "bool"],
          bestEffort: [4, "bool"],
          respFormat: [5, "int32"],
        }),
        AllocateIDsRequest: message({ howMany: [1, "uint64"], leaseType: [2, "int32"] }),
        AllocateIDsResponse: message({ start: [1, "uint64"], end: [2, "uint64"] }),
        CreateNamespaceRequest: message({}),
        CreateNamespaceResponse: message({ namespace: [1, "uint64"] }),
        DropNamespaceRequest: message({ namespace: [1, "uint64"] }),
        DropNamespaceResponse: message({}),
        ListNamespacesRequest: message({}),
        ListNamespacesResponse: message({ namespaces: [1, "map<uint64,Namespace>"] }),
        Namespace: message({ id: [1, "uint64"] }),
      },
    },
  },
});

/** A number of 64 bits as the reader gives it. */
type Wide = number | { toNumber(): number };

export function toNumber(value: Wide): number {
  return typeof value === "number" ? value : value.toNumber();
}

export interface ApiRequest {
  readonly startTs: Wide;
  readonly query: string;
  readonly vars: Readonly<Record<string, string>>;
  readonly readOnly: boolean;
  readonly bestEffort: boolean;
  readonly mutations: readonly ApiMutation[];
  readonly commitNow: boolean;
  readonly respFormat: number;
  readonly hash: string;
}

export interface ApiMutation {
  readonly setJson: Uint8Array;
  readonly deleteJson: Uint8Array;
  readonly setNquads: Uint8Array;
  readonly delNquads: Uint8Array;
  readonly set: readonly ApiNQuad[];
  readonly del: readonly ApiNQuad[];
  readonly cond: string;
  readonly commitNow: boolean;
}

export interface ApiNQuad {
  readonly subject: string;
  readonly predicate: string;
  readonly objectId: string;
  readonly objectValue: ApiValue | null;
  readonly lang: string;
  readonly facets: readonly ApiFacet[];
}

/** `val`: the name of the member that is set. */
export interface ApiValue {
  readonly val: string | undefined;
  readonly defaultVal: string;
  readonly bytesVal: Uint8Array;
  readonly intVal: Wide;
  readonly boolVal: boolean;
  readonly strVal: string;
  readonly doubleVal: number;
  readonly dateVal: Uint8Array;
  readonly datetimeVal: Uint8Array;
  readonly passwordVal: string;
  readonly uidVal: Wide;
  readonly geoVal: Uint8Array;
  readonly bigfloatVal: Uint8Array;
  readonly vfloat32Val: Uint8Array;
}

export interface ApiFacet {
  readonly key: string;
  readonly value: Uint8Array;
  readonly valType: number;
}

export interface Operation {
  readonly schema: string;
  readonly dropAttr: string;
  readonly dropAll: boolean;
  readonly dropOp: number;
  readonly dropValue: string;
  readonly runInBackground: boolean;
}

export interface TxnContext {
  readonly startTs: Wide;
  readonly aborted: boolean;
  readonly keys: readonly string[];
  readonly preds: readonly string[];
  readonly hash: string;
}

export interface LoginMessage {
  readonly userid: string;
  readonly password: string;
  readonly refreshToken: string;
  readonly namespace: Wide;
}

export interface RunDql {
  readonly dqlQuery: string;
  readonly vars: Readonly<Record<string, string>>;
  readonly readOnly: boolean;
  readonly bestEffort: boolean;
  readonly respFormat: number;
}

export interface AllocateIds {
  readonly howMany: Wide;
  readonly leaseType: number;
}

export interface NamespaceMessage {
  readonly namespace: Wide;
}

/** Reads and weighs a kind of message. */
export interface MessageKind {
  /** Of the interface above with that name. Throws what `protobufjs` throws. */
  read(bytes: Uint8Array): unknown;
  /** Bytes of memory that reading takes beside the message's own. */
  weigh(bytes: Uint8Array): number;
}

export function messageKindOf(name: string): MessageKind {
  const type = root.lookupType(`api.${name}`);
  return {
    read: (bytes) => type.decode(bytes),
    weigh: (bytes) => weighMessage(type, bytes),
  };
}

/** Of a message within another one. */
export function messageEncoderOf(name: string): (value: object) => Uint8Array {
  const type = root.lookupType(`api.${name}`);
  return (value) => type.encode(value).finish();
}

/** Writes an answer of a kind, behind its prefix. Members that are left out have their type's zero. */
export function messageWriterOf(name: string): (value: object) => Framed {
  const type = root.lookupType(`api.${name}`);
  return (value) => frame(type.encode(value).finish());
}

const response = root.lookupType("api.Response");

/** Up to so many bytes a copy costs less than a write of its own. */
const copiedBytesMax = 2_048;

/** The same of an answer with JSON or triples in it, which are not copied where they are large. */
export function writeResponse(value: object): Framed {
  const { json, rdf, ...rest } = value as { readonly json?: Uint8Array; readonly rdf?: Uint8Array };
  const data = json ?? rdf;
  if (data === undefined || data.length <= copiedBytesMax)
    return frame(response.encode(value).finish());
  // A field may stand anywhere: this one is the last.
  const writer = response.encode(rest);
  writer.uint32(((json === undefined ? rdfField : jsonField) << 3) | 2).uint32(data.length);
  return frame(writer.finish(), data);
}

const jsonField = 1;
const rdfField = 13;

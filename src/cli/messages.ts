/** What the supervisor and its children tell one another. */
import type { ServerSwitches } from "../admin/controls.ts";
import type { TlsMaterial } from "../http/tls.ts";
import type { ScriptProblem } from "../lambda/script-fault.ts";
import type { LoadedScript } from "../lambda/server.ts";
import type { StoreIdentity } from "../stores/place.ts";
import type { ServeConfig } from "./config.ts";
import type { SurveyAnswer, Question, SurveyReport } from "./questions.ts";

export type { Role } from "./roles.ts";

export type ToChild =
  | {
      readonly kind: "start";
      readonly number: number;
      readonly config: ServeConfig;
      /** The run of the server: writers that follow each other in it trust what the one before has written. */
      readonly run: string;
      /** Of the store that this run has opened; undefined for the first that opens it. */
      readonly identity: StoreIdentity | undefined;
      /** Undefined: plain HTTP. */
      readonly tls: TlsMaterial | undefined;
    }
  /**
   * Comes with a socket, to be answered with `took` before anything of it is read. `from`: its address when it was
   * accepted, "" where it had none left. `isTls`: it begins with a handshake. `isGrpc`: it
   * came to the port for gRPC.
   */
  | {
      readonly kind: "connection";
      readonly id: number;
      readonly from: string;
      readonly isTls: boolean;
      readonly isGrpc: boolean;
    }
  /** Certificates have changed. */
  | { readonly kind: "tls"; readonly material: TlsMaterial }
  /** Settings have changed, of those that a running server takes. */
  | { readonly kind: "settings"; readonly config: ServeConfig }
  /** What has become of the store; undefined: it is back where it was opened. */
  | { readonly kind: "moved"; readonly move: string | undefined }
  /** The sample is loaded, or there is none: /health may say so. */
  | { readonly kind: "open" }
  /** For the lambda server of `weft dev`: another script, to be answered with `script`; undefined: none. */
  | { readonly kind: "reloadScript"; readonly id: number; readonly script: string | undefined }
  /** The data file that the writer has told of is expected. */
  | { readonly kind: "exchangeKnown" }
  /** The end of the store's files is expected. */
  | { readonly kind: "closingKnown" }
  /** Another child's end was seen: its reader slots are free. */
  | { readonly kind: "childEnded" }
  /** How the switches stand now; to be answered with `heard`. Turn 0 is nobody's. */
  | { readonly kind: "switches"; readonly switches: ServerSwitches; readonly turn: number }
  /** Everyone has heard of the change that was asked for under this id. */
  | { readonly kind: "turned"; readonly id: number }
  /** To be answered with `report`. */
  | { readonly kind: "asked"; readonly id: number; readonly question: Question }
  /** What everyone has said to the survey that was asked for under this id. */
  | { readonly kind: "surveyed"; readonly id: number; readonly reports: readonly SurveyReport[] }
  | { readonly kind: "drain" };

export type ToSupervisor =
  | { readonly kind: "ready"; readonly isEmpty: boolean }
  /** It cannot start; one line for the operator. */
  | {
      readonly kind: "failed";
      readonly line: string;
      /** No start can help: the store is damaged. */
      readonly isDamage: boolean;
    }
  | { readonly kind: "turn"; readonly id: number; readonly change: Partial<ServerSwitches> }
  | { readonly kind: "heard"; readonly turn: number }
  /** A question to all processes. */
  | { readonly kind: "survey"; readonly id: number; readonly question: Question }
  | { readonly kind: "report"; readonly id: number; readonly answer: SurveyAnswer }
  /** A connection is the child's own now. */
  | { readonly kind: "took"; readonly id: number }
  /** What has become of a script that was to be loaded. */
  | { readonly kind: "script"; readonly id: number; readonly report: ScriptReport }
  /** The node's: it closes the store in order, and opens it anew (`exchanged`). To be answered with `closingKnown`. */
  | { readonly kind: "closing" }
  /** The writer's: the data file is to be exchanged for this one. To be answered with `exchangeKnown`. */
  | { readonly kind: "exchanging"; readonly nextData: string }
  /** It was. */
  | { readonly kind: "exchanged" }
  /** It lives. */
  | { readonly kind: "beat" }
  | { readonly kind: "shutdown" };

export type ScriptReport =
  | { readonly ok: true; readonly script: LoadedScript }
  /** The one before goes on. */
  | { readonly ok: false; readonly problems: readonly ScriptProblem[] };

/** With it a child ends that cannot write the store any more (EX_IOERR of sysexits.h). */
export const storeFailedExit = 74;

/** With it the process of a machine ends that led, or has to be opened anew: its readers go on (EX_UNAVAILABLE). */
export const leadLostExit = 69;

/** With it a child ends whose slot may be another's: with a new one it may go on (EX_TEMPFAIL). */
export const slotLostExit = 75;

/** What another protocol in front of the same engine shares with HTTP: who may do what, limits, and what is recorded. */
export { type AccessRefusal, findAccessRefusal, mayAdministerKeyless } from "./access.ts";
export { type AlterFields, chooseAlteration, dropKinds } from "./alter-body.ts";
export { type CallRecord, recordCall } from "./audit.ts";
export { BodyWatch, type Watched } from "./body-watch.ts";
export { BodyWeight } from "./body-weight.ts";
export { askingOf, findQuotaRefusal, findRateRefusal, mustBeRecorded } from "./gate.ts";
export { guardSession, headBytesMax, http2Bounds, weighHead } from "./http2-guards.ts";
export { findRemoteAddress, handedOverFrom, markPeer, peerOf, privatePeer } from "./peer.ts";
export { makeRefusalFault } from "./refusal.ts";
export { RequestHold } from "./request-hold.ts";
export { largeAnswers, printEngineMessage } from "./reply.ts";
export { callRight, type RouteRight, rightOf } from "./rights.ts";
export type { ServerContext } from "./server-context.ts";
export { noteAlter } from "./database-routes.ts";
export { accessKeyOf } from "./shown-key.ts";
export { checkHash, hashOf, principalOf } from "./sender.ts";
export { type RequestHead, WatchedRequest } from "./watched-request.ts";
export { openTls, type TlsAcceptor, type TlsMaterial } from "./tls.ts";

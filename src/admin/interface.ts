/** What the HTTP routes use of the administration; they import nothing else of it (`tools/layers.ts`). */

/** GraphQL at /admin, and the switches that it turns. */
export type { AdminService } from "./service.ts";
export { type Controls, drainingWords } from "./controls.ts";

/** Who may do what: /admin, and the routes beside it that need the same right. */
export { explainNamespaceRefusal, explainRefusal, findFieldRefusal } from "./rights.ts";

/** The server about itself: /health and /state, and the routes that turn a switch without GraphQL. */
export type { HealthElement, MembershipFacts } from "./node-fields.ts";
export { configure, mayKnowBuilds, setDraining, showNode, shutdownWords } from "./node-fields.ts";

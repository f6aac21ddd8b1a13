/** The methods of the service. */
import type { Method } from "./call.ts";
import { commitMethod, queryMethod, runDqlMethod } from "./data-methods.ts";
import {
  allocateMethod,
  alterMethod,
  createNamespaceMethod,
  dropNamespaceMethod,
  listNamespacesMethod,
  loginMethod,
  versionMethod,
} from "./server-methods.ts";

// oxlint-disable-next-line typescript/no-explicit-any -- each method knows its own message
export const methods: readonly Method<any>[] = [
  queryMethod,
  runDqlMethod,
  commitMethod,
  alterMethod,
  loginMethod,
  versionMethod,
  createNamespaceMethod,
  dropNamespaceMethod,
  listNamespacesMethod,
  allocateMethod,
];

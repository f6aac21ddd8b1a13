/**
 * The workloads: each makes a request from chance and says, by walking the plain objects, what the answer must be.
 * The tests compare, the benchmark only sends.
 */
import type { Random } from "../../src/base/random.ts";
import type { Captain, Harbour, Ship } from "./harbour.ts";
import { cities, nameWords, statuses, textWords } from "./harbour.ts";

export interface Ask {
  readonly path: string;
  readonly type: string;
  readonly body: string;
  /** The value of `data`; for mutations a part of it. */
  readonly expected: unknown;
}

export interface Workload {
  readonly name: string;
  readonly write: boolean;
  /** Rows of the answer have no promised order. */
  readonly unordered?: boolean;
  make(harbour: Harbour, random: Random): Ask;
}

const hex = (uid: number): string => "0x" + uid.toString(16);
const graphql = (query: string, expected: unknown, variables?: object): Ask => ({
  path: "/graphql",
  type: "application/json",
  body: JSON.stringify(variables === undefined ? { query } : { query, variables }),
  expected,
});
const dql = (body: string, expected: unknown): Ask => ({
  path: "/query",
  type: "application/dql",
  body,
  expected,
});
const int = (random: Random, bound: number): number => Math.floor(random.next() * bound);
const pick = <T>(random: Random, from: readonly T[]): T => from[int(random, from.length)] as T;
const byUid = (a: { uid: number }, b: { uid: number }): number => a.uid - b.uid;
const mean = (numbers: readonly number[]): number | null =>
  numbers.length === 0 ? null : numbers.reduce((sum, n) => sum + n, 0) / numbers.length;

const shipRow = ({ name, tonnage, berths, active, callsign }: Ship): object => ({
  name,
  tonnage,
  berths,
  active,
  callsign,
});

export const workloads: readonly Workload[] = [
  {
    name: "gql-get",
    write: false,
    make(h, r) {
      const ship = pick(r, h.ships);
      return graphql(
        `{ getShip(id: "${hex(ship.uid)}") { name tonnage berths active callsign } }`,
        {
          getShip: shipRow(ship),
        },
      );
    },
  },
  {
    name: "gql-get-var",
    write: false,
    make(h, r) {
      const ship = pick(r, h.ships);
      return graphql(
        "query ($id: ID!) { getShip(id: $id) { name tonnage berths active callsign } }",
        { getShip: shipRow(ship) },
        { id: hex(ship.uid) },
      );
    },
  },
  {
    name: "gql-get-xid",
    write: false,
    make(h, r) {
      const { uid, email, name, city } = pick(r, h.captains);
      return graphql(`{ getCaptain(email: "${email}") { id name city } }`, {
        getCaptain: { id: hex(uid), name, city },
      });
    },
  },
  {
    name: "gql-list",
    write: false,
    make(h, r) {
      const low = int(r, 800);
      const rows = h.ships
        .filter((ship) => ship.tonnage >= low && ship.tonnage <= low + 50)
        .sort((a, b) => a.tonnage - b.tonnage || (a.callsign < b.callsign ? -1 : 1))
        .slice(0, 20);
      return graphql(
        `{ queryShip(filter: {tonnage: {between: {min: ${low}, max: ${low + 50}}}}, order: {asc: tonnage, then: {asc: callsign}}, first: 20) { id name tonnage } }`,
        { queryShip: rows.map(({ uid, name, tonnage }) => ({ id: hex(uid), name, tonnage })) },
      );
    },
  },
  {
    name: "gql-nested",
    write: false,
    make(h, r) {
      const some = new Set(Array.from({ length: 10 }, () => pick(r, h.captains)));
      const row = (captain: Captain): object => ({
        name: captain.name,
        voyages: h.voyages
          .filter((voyage) => voyage.captain === captain)
          .sort(byUid)
          .slice(0, 5)
          .map((voyage) => ({
            number: voyage.number,
            freight: voyage.freight,
            legs: [...voyage.legs]
              .sort(byUid)
              .slice(0, 5)
              .map(({ days, ship }) => ({
                days,
                ship: { name: ship.name, tonnage: ship.tonnage },
              })),
          })),
      });
      const ids = [...some].map((captain) => `"${hex(captain.uid)}"`).join(", ");
      return graphql(
        `{ queryCaptain(filter: {id: [${ids}]}) { name voyages(first: 5) { number freight legs(first: 5) { days ship { name tonnage } } } } }`,
        { queryCaptain: [...some].sort(byUid).map(row) },
      );
    },
  },
  {
    name: "gql-text",
    write: false,
    make(h, r) {
      const [one, two] = [pick(r, textWords), pick(r, textWords)];
      const rows = h.ships.filter((ship) => {
        const words = ship.description.split(" ");
        return ship.active && words.includes(one) && words.includes(two);
      });
      return graphql(
        `{ queryShip(filter: {description: {alloftext: "${one} ${two}"}, and: {active: true}}, first: 20) { name tonnage } }`,
        { queryShip: rows.slice(0, 20).map(({ name, tonnage }) => ({ name, tonnage })) },
      );
    },
  },
  {
    name: "gql-terms",
    write: false,
    make(h, r) {
      const words = [pick(r, nameWords), pick(r, nameWords)];
      const rows = h.ships
        .filter((ship) => ship.name.split(" ").some((word) => words.includes(word)))
        .sort((a, b) => b.tonnage - a.tonnage || a.uid - b.uid)
        .slice(0, 10);
      return graphql(
        `{ queryShip(filter: {name: {anyofterms: "${words.join(" ")}"}}, order: {desc: tonnage}, first: 10) { callsign name tonnage } }`,
        { queryShip: rows.map(({ callsign, name, tonnage }) => ({ callsign, name, tonnage })) },
      );
    },
  },
  {
    name: "gql-aggregate",
    write: false,
    make(h, r) {
      const mark = 1 + int(r, 5);
      const marks = h.entries.filter((entry) => entry.mark === mark).map((entry) => entry.mark);
      return graphql(`{ aggregateLogEntry(filter: {mark: {eq: ${mark}}}) { count markAvg } }`, {
        aggregateLogEntry: { count: marks.length, markAvg: mean(marks) },
      });
    },
  },
  {
    name: "gql-nested-agg",
    write: false,
    make(h, r) {
      const some = [...new Set(Array.from({ length: 10 }, () => pick(r, h.ships)))].sort(byUid);
      const row = (ship: Ship): object => {
        const marks = h.entries.filter((entry) => entry.ship === ship).map((entry) => entry.mark);
        return {
          name: ship.name,
          entriesAggregate: { count: marks.length, markAvg: mean(marks) },
          home: { name: ship.home.name },
        };
      };
      const ids = some.map((ship) => `"${hex(ship.uid)}"`).join(", ");
      return graphql(
        `{ queryShip(filter: {id: [${ids}]}) { name entriesAggregate { count markAvg } home { name } } }`,
        { queryShip: some.map(row) },
      );
    },
  },
  {
    name: "gql-geo",
    write: false,
    make(h, r) {
      const city = pick(r, cities);
      // Far enough that all of the city is in, and no other city.
      const rows = h.captains.filter((captain) => captain.city === city[0]).slice(0, 20);
      return graphql(
        `{ queryCaptain(filter: {location: {near: {coordinate: {longitude: ${city[1]}, latitude: ${city[2]}}, distance: 20000}}}, first: 20) { name city } }`,
        { queryCaptain: rows.map(({ name }) => ({ name, city: city[0] })) },
      );
    },
  },
  {
    name: "dql-eq-2hop",
    write: false,
    make(h, r) {
      const captain = pick(r, h.captains);
      const voyages = h.voyages.filter((voyage) => voyage.captain === captain).sort(byUid);
      const row: Record<string, unknown> = { "Captain.name": captain.name };
      if (voyages.length > 0) {
        row["Captain.voyages"] = voyages.map((voyage) => ({
          "Voyage.number": voyage.number,
          "Voyage.freight": voyage.freight,
          "Voyage.legs": [...voyage.legs]
            .sort(byUid)
            .map((leg) => ({ "Leg.days": leg.days, "Leg.ship": { "Ship.name": leg.ship.name } })),
        }));
      }
      return dql(
        `{ q(func: eq(Captain.email, "${captain.email}")) { Captain.name Captain.voyages { Voyage.number Voyage.freight Voyage.legs { Leg.days Leg.ship { Ship.name } } } } }`,
        { q: [row] },
      );
    },
  },
  {
    name: "dql-topk",
    write: false,
    make(h, r) {
      const low = int(r, 3000);
      const status = pick(r, statuses);
      const rows = h.voyages
        .filter((v) => v.freight >= low && v.freight <= 20_000 && v.status === status)
        .sort((a, b) => b.freight - a.freight || a.uid - b.uid)
        .slice(0, 10);
      return dql(
        `{ q(func: between(Voyage.freight, ${low}, 20000), orderdesc: Voyage.freight, first: 10) @filter(eq(Voyage.status, "${status}")) { Voyage.number Voyage.freight Voyage.captain { Captain.name } } }`,
        {
          q: rows.map((v) => ({
            "Voyage.number": v.number,
            "Voyage.freight": v.freight,
            "Voyage.captain": { "Captain.name": v.captain.name },
          })),
        },
      );
    },
  },
  {
    name: "dql-var-val",
    write: false,
    make(h, r) {
      const port = pick(r, h.ports);
      const counted = h.ships
        .filter((ship) => ship.home === port)
        .map((ship) => ({ ship, n: h.entries.filter((entry) => entry.ship === ship).length }))
        .sort((a, b) => b.n - a.n || a.ship.uid - b.ship.uid)
        .slice(0, 5);
      return dql(
        `{ var(func: uid(${hex(port.uid)})) { Port.ships { n as count(Ship.entries) } } q(func: uid(n), orderdesc: val(n), first: 5) { Ship.name val(n) } }`,
        { q: counted.map(({ ship, n }) => ({ "Ship.name": ship.name, "val(n)": n })) },
      );
    },
  },
  {
    name: "dql-groupby",
    write: false,
    make(h, r) {
      const city = pick(r, cities)[0];
      const count = h.captains.filter((captain) => captain.city === city).length;
      return dql(
        `{ q(func: eq(Captain.city, "${city}")) @groupby(Captain.city) { count(uid) } }`,
        count === 0 ? {} : { q: [{ "@groupby": [{ "Captain.city": city, count }] }] },
      );
    },
  },
  {
    name: "dql-recurse",
    write: false,
    make(h, r) {
      const captain = pick(r, h.captains);
      return dql(
        `{ q(func: uid(${hex(captain.uid)})) @recurse(depth: 3, loop: false) { Captain.name Captain.friends } }`,
        { q: [recurse(captain, 3, new Set())] },
      );
    },
  },
  {
    name: "dql-shortest",
    write: false,
    make(h, r) {
      const from = int(r, h.captains.length);
      const to = Math.min(h.captains.length - 1, from + 1 + int(r, 100));
      const [source, target] = [h.captains[from] as Captain, h.captains[to] as Captain];
      return dql(
        `{ shortest(from: ${hex(source.uid)}, to: ${hex(target.uid)}) { Captain.friends } }`,
        { hops: hops(source, target) },
      );
    },
  },
  {
    name: "dql-regexp",
    write: false,
    make(h, r) {
      const part = (pick(r, h.captains).name.split(" ")[1] as string).slice(1, 6);
      const rows = h.captains.filter((captain) => captain.name.includes(part)).slice(0, 20);
      return dql(`{ q(func: regexp(Captain.name, /${part}.*/), first: 20) { Captain.name } }`, {
        q: rows.map((captain) => ({ "Captain.name": captain.name })),
      });
    },
  },
  {
    name: "dql-page-offset-deep",
    write: false,
    make(h, r) {
      const offset = Math.floor(h.legs.length * 0.8) + int(r, Math.floor(h.legs.length * 0.1));
      const rows = [...h.legs].sort(byUid).slice(offset, offset + 20);
      return dql(`{ q(func: type(Leg), first: 20, offset: ${offset}) { uid Leg.days } }`, {
        q: rows.map((leg) => ({ uid: hex(leg.uid), "Leg.days": leg.days })),
      });
    },
  },
  {
    name: "dql-page-after",
    write: false,
    make(h, r) {
      const sorted = [...h.legs].sort(byUid);
      const at = int(r, sorted.length - 1);
      const rows = sorted.slice(at + 1, at + 21);
      return dql(
        `{ q(func: type(Leg), first: 20, after: ${hex((sorted[at] as { uid: number }).uid)}) { uid Leg.days } }`,
        { q: rows.map((leg) => ({ uid: hex(leg.uid), "Leg.days": leg.days })) },
      );
    },
  },
  {
    name: "dql-has-count",
    write: false,
    make: (h) =>
      dql("{ q(func: has(Ship.callsign)) { count(uid) } }", { q: [{ count: h.ships.length }] }),
  },
  {
    name: "gql-add",
    write: true,
    make(h, r) {
      const [ship, captain] = [pick(r, h.ships), pick(r, h.captains)];
      return graphql(
        `mutation { addLogEntry(input: [{mark: ${1 + int(r, 5)}, text: "${textWordsList(r)}", ship: {id: "${hex(ship.uid)}"}, author: {id: "${hex(captain.uid)}"}}]) { numUids } }`,
        { addLogEntry: { numUids: 1 } },
      );
    },
  },
  {
    name: "gql-add-plain",
    write: true,
    make: (_, r) =>
      graphql(
        `mutation { addLeg(input: [{days: ${int(r, 30)}, cost: ${int(r, 900)}}]) { numUids } }`,
        {
          addLeg: { numUids: 1 },
        },
      ),
  },
  {
    name: "gql-add-deep",
    write: true,
    make(h, r) {
      const ship = (): string => hex(pick(r, h.ships).uid);
      const number = `N-${Math.floor(r.next() * 1e15)}`;
      return graphql(
        `mutation { addVoyage(input: [{number: "${number}", status: PLANNED, freight: 10.5, captain: {id: "${hex(pick(r, h.captains).uid)}"}, legs: [{days: 1, cost: 5, ship: {id: "${ship()}"}}, {days: 2, cost: 2.75, ship: {id: "${ship()}"}}]}]) { numUids } }`,
        { addVoyage: { numUids: 3 } },
      );
    },
  },
  {
    name: "gql-update",
    write: true,
    make(h, r) {
      const ship = pick(r, h.ships);
      return graphql(
        `mutation { updateShip(input: {filter: {id: ["${hex(ship.uid)}"]}, set: {berths: ${int(r, 500)}}}) { numUids } }`,
        { updateShip: { numUids: 1 } },
      );
    },
  },
  {
    name: "dql-mutate",
    write: true,
    make(h, r) {
      const body = `{ set { <${hex(pick(r, h.ships).uid)}> <Ship.berths> "${int(r, 500)}" . } }`;
      return { path: "/mutate?commitNow=true", type: "application/rdf", body, expected: done };
    },
  },
  {
    name: "dql-upsert",
    write: true,
    make(h, r) {
      const ship = pick(r, h.ships);
      const body = `upsert { query { q(func: eq(Ship.callsign, "${ship.callsign}")) { v as uid } } mutation { set { uid(v) <Ship.berths> "${int(r, 500)}" . } } }`;
      return { path: "/mutate?commitNow=true", type: "application/rdf", body, expected: done };
    },
  },
];

const done = { code: "Success", message: "Done" };
const textWordsList = (random: Random): string =>
  Array.from({ length: 12 }, () => pick(random, textWords)).join(" ");

/** @recurse with loop: false, walked breadth first: each (from, to) edge is followed once in the whole query. */
function recurse(root: Captain, depth: number, seen: Set<string>): object {
  interface Row {
    readonly captain: Captain;
    readonly out: Record<string, unknown>;
  }
  const top: Row = { captain: root, out: {} };
  let level = [top];
  for (let d = 1; d <= depth; d++) {
    const next = new Map<Captain, Row>();
    for (const row of level) {
      row.out["Captain.name"] = row.captain.name;
      if (d === depth) continue;
      const friends: object[] = [];
      for (const friend of row.captain.friends) {
        const key = `${row.captain.uid} ${friend.uid}`;
        if (seen.has(key)) continue;
        seen.add(key);
        const child = next.get(friend) ?? { captain: friend, out: {} };
        next.set(friend, child);
        friends.push(child.out);
      }
      if (friends.length > 0) row.out["Captain.friends"] = friends;
    }
    level = [...next.values()];
  }
  return top.out;
}

/** The number of edges on a shortest path; −1 where there is none. */
function hops(source: Captain, target: Captain): number {
  const seen = new Set([source]);
  for (let level = [source], distance = 0; level.length > 0; distance++) {
    if (level.includes(target)) return distance;
    level = level
      .flatMap((captain) => captain.friends)
      .filter((friend) => !seen.has(friend) && seen.add(friend) !== undefined);
  }
  return -1;
}

/**
 * A seeded graph of ships, captains and voyages: what the benchmarks ask about and what the workload tests compute by
 * hand. `scale` 1 is about 600,000 facts. Everything follows from the seed, so two runs hold the same data.
 */
import { makeSeededRandom } from "../../src/base/random.ts";

export const harbourSchema = `
enum Status { PLANNED SAILING ARRIVED LOST }
type Port { id: ID! name: String! @id ships: [Ship] @hasInverse(field: home) }
type Ship { id: ID! callsign: String! @id name: String! @search(by: [term, exact, trigram])
  description: String @search(by: [fulltext]) tonnage: Float! @search berths: Int @search
  active: Boolean @search launched: DateTime @search(by: [day]) home: Port
  entries: [LogEntry] @hasInverse(field: ship) }
type Captain { id: ID! email: String! @id name: String! @search(by: [term, trigram])
  city: String @search(by: [exact]) location: Point @search
  voyages: [Voyage] @hasInverse(field: captain) friends: [Captain] }
type Voyage { id: ID! number: String! @id departed: DateTime @search(by: [day]) status: Status @search
  freight: Float @search captain: Captain legs: [Leg] }
type Leg { id: ID! ship: Ship days: Int cost: Float }
type LogEntry { id: ID! mark: Int! @search text: String @search(by: [fulltext])
  author: Captain ship: Ship @hasInverse(field: entries) }
`;

export interface Port {
  readonly uid: number;
  readonly name: string;
}
export interface Ship {
  readonly uid: number;
  readonly callsign: string;
  readonly name: string;
  readonly description: string;
  readonly tonnage: number;
  readonly berths: number;
  readonly active: boolean;
  readonly launched: string;
  readonly home: Port;
}
export interface Captain {
  readonly uid: number;
  readonly email: string;
  readonly name: string;
  readonly city: string;
  readonly location: readonly [number, number];
  readonly friends: Captain[];
}
export interface Leg {
  readonly uid: number;
  readonly ship: Ship;
  readonly days: number;
  readonly cost: number;
}
export interface Voyage {
  readonly uid: number;
  readonly number: string;
  readonly departed: string;
  readonly status: string;
  readonly freight: number;
  readonly captain: Captain;
  readonly legs: readonly Leg[];
}
export interface LogEntry {
  readonly uid: number;
  readonly mark: number;
  readonly text: string;
  readonly author: Captain;
  readonly ship: Ship;
}

export interface Harbour {
  readonly ports: readonly Port[];
  readonly ships: readonly Ship[];
  readonly captains: readonly Captain[];
  readonly voyages: readonly Voyage[];
  readonly legs: readonly Leg[];
  readonly entries: readonly LogEntry[];
}

export const cities: readonly (readonly [string, number, number])[] = [
  ["Bergen", 5.32, 60.39],
  ["Cork", -8.47, 51.9],
  ["Genoa", 8.93, 44.41],
  ["Lisbon", -9.14, 38.72],
  ["Lubeck", 10.69, 53.87],
  ["Riga", 24.11, 56.95],
];
export const statuses = ["PLANNED", "SAILING", "ARRIVED", "LOST"] as const;
export const nameWords: readonly string[] =
  "amber bright calm dawn eager fair grand harrier iron jolly kestrel lantern merry north osprey proud".split(
    " ",
  );
/** None is a stop word, and no two share a stem. */
export const textWords: readonly string[] =
  "anchor ballast cargo deck engine fender galley harbor island keel ladder mast needle oar paint quay rudder sail tackle vessel winch yacht".split(
    " ",
  );
const lastNames: readonly string[] =
  "Almeida Brennan Castellan Dimitriou Eriksson Fitzgerald Gustavsen Hollander Ivanovic Johansson".split(
    " ",
  );
const firstNames: readonly string[] = "Ada Bo Cleo Dag Eva Finn Gro Hal Ines Jon".split(" ");

export function makeHarbour(scale: number, seed = 1): Harbour {
  const random = makeSeededRandom(seed);
  const int = (bound: number): number => Math.floor(random.next() * bound);
  const pick = <T>(from: readonly T[]): T => from[int(from.length)] as T;
  const size = (full: number): number => Math.max(12, Math.round(full * scale));
  let last = 0x1000;
  const uid = (): number => ++last;

  const ports = Array.from({ length: Math.max(4, Math.round(100 * scale)) }, (_, i) => ({
    uid: uid(),
    name: `Port ${i}`,
  }));
  const ships = Array.from({ length: size(5000) }, (_, i) => ({
    uid: uid(),
    callsign: `WFT-${i}`,
    name: `${pick(nameWords)} ${pick(nameWords)} ${i}`,
    description: Array.from({ length: 10 }, () => pick(textWords)).join(" "),
    tonnage: int(90_000) / 100,
    berths: int(500),
    active: random.next() < 0.8,
    launched: `20${10 + int(14)}-0${1 + int(9)}-1${int(10)}T08:00:00Z`,
    home: pick(ports),
  }));
  const captains: Captain[] = Array.from({ length: size(8000) }, (_, i) => {
    const city = pick(cities);
    return {
      uid: uid(),
      email: `captain${i}@sea.example`,
      name: `${pick(firstNames)} ${pick(lastNames)}`,
      city: city[0],
      location: [
        Math.round((city[1] + (random.next() - 0.5) / 10) * 1e4) / 1e4,
        Math.round((city[2] + (random.next() - 0.5) / 10) * 1e4) / 1e4,
      ],
      friends: [],
    };
  });
  captains.forEach((captain, i) => {
    const friends = new Set<Captain>();
    for (let k = 0; k < 5; k++) {
      friends.add(captains[Math.min(captains.length - 1, i + 1 + int(20))] as Captain);
    }
    friends.delete(captain);
    captain.friends.push(...[...friends].sort((a, b) => a.uid - b.uid));
  });
  const legs: Leg[] = [];
  const voyages = Array.from({ length: size(20_000) }, (_, i) => {
    const own = Array.from({ length: 1 + int(4) }, () => ({
      uid: uid(),
      ship: pick(ships),
      days: 1 + int(30),
      cost: int(100_000) / 100,
    }));
    legs.push(...own);
    return {
      uid: uid(),
      number: `V-${i}`,
      departed: `202${int(6)}-0${1 + int(9)}-2${int(8)}T12:00:00Z`,
      status: pick(statuses),
      freight: int(2_000_000) / 100,
      captain: pick(captains),
      legs: own,
    };
  });
  const entries = Array.from({ length: size(30_000) }, () => ({
    uid: uid(),
    mark: 1 + int(5),
    text: Array.from({ length: 8 }, () => pick(textWords)).join(" "),
    author: pick(captains),
    ship: pick(ships),
  }));
  return { ports, ships, captains, voyages, legs, entries };
}

/** The harbour as N-Quads, predicate names as the GraphQL schema maps them, both sides of each inverse. */
export function* harbourFacts(harbour: Harbour): Generator<string> {
  const value = (uid: number, predicate: string, text: unknown): string =>
    `<0x${uid.toString(16)}> <${predicate}> ${JSON.stringify(String(text))} .`;
  const edge = (uid: number, predicate: string, target: number): string =>
    `<0x${uid.toString(16)}> <${predicate}> <0x${target.toString(16)}> .`;
  for (const port of harbour.ports) {
    yield value(port.uid, "dgraph.type", "Port");
    yield value(port.uid, "Port.name", port.name);
  }
  for (const ship of harbour.ships) {
    yield value(ship.uid, "dgraph.type", "Ship");
    for (const field of [
      "callsign",
      "name",
      "description",
      "tonnage",
      "berths",
      "active",
      "launched",
    ] as const) {
      yield value(ship.uid, `Ship.${field}`, ship[field]);
    }
    yield edge(ship.uid, "Ship.home", ship.home.uid);
    yield edge(ship.home.uid, "Port.ships", ship.uid);
  }
  for (const captain of harbour.captains) {
    yield value(captain.uid, "dgraph.type", "Captain");
    for (const field of ["email", "name", "city"] as const) {
      yield value(captain.uid, `Captain.${field}`, captain[field]);
    }
    const point = `{'type':'Point','coordinates':[${captain.location.join(",")}]}`;
    yield `<0x${captain.uid.toString(16)}> <Captain.location> "${point}"^^<geo:geojson> .`;
    for (const friend of captain.friends) yield edge(captain.uid, "Captain.friends", friend.uid);
  }
  for (const voyage of harbour.voyages) {
    yield value(voyage.uid, "dgraph.type", "Voyage");
    for (const field of ["number", "departed", "status", "freight"] as const) {
      yield value(voyage.uid, `Voyage.${field}`, voyage[field]);
    }
    yield edge(voyage.uid, "Voyage.captain", voyage.captain.uid);
    yield edge(voyage.captain.uid, "Captain.voyages", voyage.uid);
    for (const leg of voyage.legs) {
      yield edge(voyage.uid, "Voyage.legs", leg.uid);
      yield value(leg.uid, "dgraph.type", "Leg");
      yield value(leg.uid, "Leg.days", leg.days);
      yield value(leg.uid, "Leg.cost", leg.cost);
      yield edge(leg.uid, "Leg.ship", leg.ship.uid);
    }
  }
  for (const entry of harbour.entries) {
    yield value(entry.uid, "dgraph.type", "LogEntry");
    yield value(entry.uid, "LogEntry.mark", entry.mark);
    yield value(entry.uid, "LogEntry.text", entry.text);
    yield edge(entry.uid, "LogEntry.author", entry.author.uid);
    yield edge(entry.uid, "LogEntry.ship", entry.ship.uid);
    yield edge(entry.ship.uid, "Ship.entries", entry.uid);
  }
}

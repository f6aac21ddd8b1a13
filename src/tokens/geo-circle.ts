/**
 * Hot: circles on the earth, for near. Their cells are found by plain arithmetic on the cube's faces (20 µs; covering
 * the polygon that the circle is drawn as takes 500), and nearly all points are told apart by their distance alone.
 */
import {
  levelMax,
  levelMin,
  loadS2,
  makeCircle,
  pointOf,
  earthRadiusMeters,
  circleCorners,
} from "./geo-cells.ts";
import type { Loop } from "./geo-cells.ts";

/** Least width and largest diagonal of a cell of level 0, in radians; halved with each level (S2's quadratic cells). */
const widthMin = (2 * Math.SQRT2) / 3;
const diagonalMax = 2.438654594434021;

/** Of rounding, relative to the radius, and in radians. */
const slack = 1e-6;
const slackMin = 1e-13;

/** Circles beyond (some 640 km) are covered and tested as the polygons that they are drawn as. */
const radiusMax = 0.1;

const leafLevel = 30;
const radiansPerDegree = Math.PI / 180;

interface Circle {
  /** Cells that hold all of it; undefined where it is too large. */
  readonly cover: readonly bigint[] | undefined;
  readonly hasPoint: (coordinates: readonly number[]) => boolean;
  /** The polygon that stands for it. */
  readonly loop: () => Loop;
}

export function drawCircle(center: readonly number[], radiusMeters: number): Circle {
  let drawn: Loop | undefined;
  const loop = (): Loop => (drawn ??= makeCircle(center, radiusMeters));
  const radius = radiusMeters / earthRadiusMeters;
  if (radius > radiusMax) {
    return { cover: undefined, hasPoint: (point) => loop().containsPoint(pointOf(point)), loop };
  }
  const { x, y, z } = pointOf(center);
  // The polygon's corners lie on the circle, its sides reach inside: only in between it has to be asked itself.
  const inner = Math.atan(Math.tan(radius) * Math.cos(Math.PI / circleCorners));
  const near = chordSquare(Math.max(0, inner * (1 - slack) - slackMin));
  const far = chordSquare(radius * (1 + slack) + slackMin);
  const hasPoint = (point: readonly number[]): boolean => {
    const longitude = (point[0] ?? 0) * radiansPerDegree;
    const latitude = (point[1] ?? 0) * radiansPerDegree;
    const level = Math.cos(latitude);
    const dx = level * Math.cos(longitude) - x;
    const dy = level * Math.sin(longitude) - y;
    const dz = Math.sin(latitude) - z;
    const distance = dx * dx + dy * dy + dz * dz;
    if (distance < near) return true;
    return distance <= far && loop().containsPoint(pointOf(point));
  };
  return { cover: coverCircle({ x, y, z }, radius), hasPoint, loop };
}

function chordSquare(angle: number): number {
  const half = Math.sin(angle / 2);
  return 4 * half * half;
}

interface Place {
  readonly x: number;
  readonly y: number;
  readonly z: number;
}

/** Levels below the four cells around the circle that are looked into. */
const refinedLevels = 2;

/**
 * The four cells that meet at the corner nearest to the center hold the whole circle where they are four times as wide
 * as its radius; of their parts those are kept that are near enough.
 */
function coverCircle(center: Place, radius: number): bigint[] | undefined {
  const fitting = Math.floor(Math.log2(widthMin / (4 * (radius + slackMin))));
  const start = Math.min(fitting, levelMax);
  if (start < levelMin) return undefined;
  const end = Math.min(start + refinedLevels, levelMax);
  const { cellid, Point } = loadS2();
  const leaf = cellid.fromPoint(new Point(center.x, center.y, center.z));
  const cells: bigint[] = [];
  for (const around of cellid.vertexNeighbors(leaf, start)) {
    const { f, i, j } = cellid.faceIJOrientation(around);
    const size = 2 ** (leafLevel - start);
    const corner = { face: f, i: i - (i % size), j: j - (j % size) };
    gatherNear(corner, start, { center, radius, end, cells });
  }
  return cells;
}

interface Gathering {
  readonly center: Place;
  readonly radius: number;
  readonly end: number;
  readonly cells: bigint[];
}

interface Corner {
  readonly face: number;
  /** Of 2^30 steps along each side of a face. */
  readonly i: number;
  readonly j: number;
}

function gatherNear(corner: Corner, level: number, gathering: Gathering): void {
  const { center, radius, end, cells } = gathering;
  const size = 2 ** (leafLevel - level);
  const reach = radius * (1 + slack) + (diagonalMax / 2) * 1.05 * 2 ** -level;
  if (distanceSquare(corner, size / 2, center) > chordSquare(Math.min(reach, Math.PI))) return;
  if (level === end) {
    const { face, i, j } = corner;
    const { cellid } = loadS2();
    cells.push(cellid.parent(cellid.fromFaceIJ(face, i, j), level));
    return;
  }
  const half = size / 2;
  for (let part = 0; part < 4; part++) {
    const i = corner.i + (part & 1) * half;
    const j = corner.j + (part >> 1) * half;
    gatherNear({ face: corner.face, i, j }, level + 1, gathering);
  }
}

const faceSize = 2 ** leafLevel;

/** From the middle of a cell, as the square of the chord. */
function distanceSquare(corner: Corner, half: number, center: Place): number {
  const u = toPlane((corner.i + half) / faceSize);
  const v = toPlane((corner.j + half) / faceSize);
  const length = Math.sqrt(1 + u * u + v * v);
  const { x, y, z } = onFace(corner.face, u, v);
  const dx = x / length - center.x;
  const dy = y / length - center.y;
  const dz = z / length - center.z;
  return dx * dx + dy * dy + dz * dz;
}

/** From 0 … 1 along a face to −1 … 1 on the plane that touches the sphere. */
function toPlane(s: number): number {
  return s >= 0.5 ? (4 * s * s - 1) / 3 : (1 - 4 * (1 - s) * (1 - s)) / 3;
}

function onFace(face: number, u: number, v: number): Place {
  switch (face) {
    case 0:
      return { x: 1, y: u, z: v };
    case 1:
      return { x: -u, y: 1, z: v };
    case 2:
      return { x: -u, y: -v, z: 1 };
    case 3:
      return { x: -1, y: -v, z: -u };
    case 4:
      return { x: v, y: -1, z: -u };
    default:
      return { x: v, y: u, z: -1 };
  }
}

import fc from "fast-check";
import { expect, test } from "vitest";
import { geoTokens, intersectsTokens, makeCircle, pointOf } from "./geo-cells.ts";
import { drawCircle } from "./geo-circle.ts";
import { runs } from "../../test/support/runs.ts";

const degrees = 180 / Math.PI;

/** A point at so many radii from the center, in some direction. */
function pointAt(center: readonly number[], angle: number, direction: number): number[] {
  const [longitude = 0, latitude = 0] = center.map((degree) => degree / degrees);
  const sine =
    Math.sin(latitude) * Math.cos(angle) +
    Math.cos(latitude) * Math.sin(angle) * Math.cos(direction);
  const y = Math.sin(direction) * Math.sin(angle) * Math.cos(latitude);
  const x = Math.cos(angle) - Math.sin(latitude) * sine;
  const turned = (longitude + Math.atan2(y, x)) * degrees;
  return [((turned + 540) % 360) - 180, Math.asin(Math.max(-1, Math.min(1, sine))) * degrees];
}

const circles = fc.record({
  longitude: fc.double({ min: -180, max: 180, noNaN: true }),
  latitude: fc.double({ min: -90, max: 90, noNaN: true }),
  // From a tenth of a meter to a thousand kilometers.
  exponent: fc.double({ min: -1, max: 6, noNaN: true }),
  direction: fc.double({ min: 0, max: 2 * Math.PI, noNaN: true }),
  share: fc.oneof(
    fc.double({ min: 0, max: 2, noNaN: true }),
    fc.double({ min: 0.999, max: 1.0005, noNaN: true }),
  ),
});

test("a circle has the points of its polygon, and their cells", () => {
  fc.assert(
    fc.property(circles, ({ longitude, latitude, exponent, direction, share }) => {
      const center = [longitude, latitude];
      const meters = 10 ** exponent;
      const circle = drawCircle(center, meters);
      const point = pointAt(center, (meters / 6_371_000) * share, direction);
      const isInside = makeCircle(center, meters).containsPoint(pointOf(point));
      expect(circle.hasPoint(point)).toBe(isInside);
      if (!isInside || circle.cover === undefined) return;
      const asked = new Set(intersectsTokens(circle.cover).map(String));
      const stored = geoTokens({ type: "Point", coordinates: point });
      expect(stored.some((token) => asked.has(String(token)))).toBe(true);
    }),
    { numRuns: runs(2000) },
  );
});

test("few cells cover a circle of a city", () => {
  const { cover } = drawCircle([2.35, 48.86], 2000);
  expect(cover?.length).toBeGreaterThan(0);
  expect(cover?.length).toBeLessThan(16);
});

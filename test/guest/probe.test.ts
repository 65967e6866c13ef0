import { describe, expect, it } from 'vitest';
import type { Heat } from '../../src/wire/heat.ts';
import { eventsOf, globalsOf, isMain } from '../conformance/both.ts';
import { sections } from '../conformance/suite.ts';
import { type Driven, drive } from './driver.ts';

/** A run without its profile: all that a program and its host can see. */
function seen({ profile: _, ...rest }: Driven): Omit<Driven, 'profile'> {
  return rest;
}

function fuelOf(parts: readonly { readonly fuel: number }[]): number {
  return parts.reduce((sum, { fuel }) => sum + fuel, 0);
}

function heatOf({ profile }: Driven): Heat {
  if (profile === null) throw new Error('the run was not measured');
  return profile.heat;
}

describe('a measured run', () => {
  it.each(sections().map((section) => [section.name, section] as const))(
    'gives what it gives without measuring, and its fuel is that of its lines: %s',
    (_name, section) => {
      for (const chunk of section.chunks) {
        const options = () => ({
          call: isMain(chunk) ? 'main' : null,
          globals: globalsOf(chunk),
          stdin: chunk.stdin,
          limits: chunk.limits,
          events: eventsOf(chunk),
          tools: section.tools().here,
          pure: true as const,
        });
        const plain = drive(chunk.source, options());
        if (plain.phase === 'parse') continue;
        const measured = drive(chunk.source, { ...options(), probe: { trace: true, at: { step: 3 } } });
        expect(seen(measured)).toEqual(seen(plain));
        const heat = heatOf(measured);
        expect(heat.fuel).toBe(plain.fuel);
        expect(fuelOf(heat.lines) + heat.outside.fuel).toBe(plain.fuel);
        expect(fuelOf(heat.flame.nodes)).toBe(plain.fuel);
        if (Object.keys(chunk.globals).length === 0 && plain.phase !== 'load') expect(heat.outside.fuel).toBe(0);
      }
    },
  );
});

import { expect, it } from 'vitest';
import { CLOSED } from '../entrances/closed.ts';
import { PROBES } from '../entrances/probes.ts';
import { SESSION_PROBES } from '../entrances/sessionprobes.ts';
import { CALLBACKS, NO_ENTRANCE } from '../entrances/table.ts';
import { placesOf } from './entrances.ts';
import { publicEntries } from './exports.ts';

const places = placesOf(publicEntries().map(({ file }) => file));

it('issue 44: each place where a value of any kind passes has a probe, or a reason why nothing enters there', () => {
  const probed = [
    ...Object.keys(PROBES),
    ...Object.keys(SESSION_PROBES),
    ...Object.keys(CLOSED).filter((name) => /^[\w.[\]()]+$/.test(name)),
  ];
  const rows = [...probed, ...CALLBACKS, ...NO_ENTRANCE.keys()];
  expect(rows.filter((place, index) => rows.indexOf(place) !== index)).toEqual([]);
  expect({
    without: places.filter((place) => !rows.includes(place)),
    gone: rows.filter((place) => !places.includes(place)),
  }).toEqual({
    without: [],
    gone: [],
  });
});

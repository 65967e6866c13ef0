import { render } from 'preact';
import { App } from './app.tsx';
import { serverSource } from './data/server.ts';
import { embeddedSnapshot, snapshotSource } from './data/snapshot.ts';

const place = document.getElementById('page');
if (place === null) throw new TypeError('the page has no #page');

const snapshot = embeddedSnapshot();
const source = snapshot === null ? serverSource() : snapshotSource(snapshot);
render(<App source={source} only={snapshot?.session.sid ?? null} />, place);

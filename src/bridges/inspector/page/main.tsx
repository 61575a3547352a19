import { render } from 'preact';
import { App } from './app.js';
import { startLive } from './live.js';
import { startTheme } from './theme.js';

startTheme();
startLive();
const root = document.getElementById('app');
if (root) render(<App />, root);

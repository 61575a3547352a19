import { runFullSweeps } from './sweep.js';

// imported by slow tests before the tests whose sweeps they run in full
runFullSweeps();

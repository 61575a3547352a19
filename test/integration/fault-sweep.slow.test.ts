import { describeFaultSweep } from '../support/fault-sweep.js';
import { inFull } from '../support/sweep.js';

describeFaultSweep({ every: inFull(1, 3) });

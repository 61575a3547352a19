import { describeFaultSweep } from '../support/fault-sweep.js';

describeFaultSweep({ every: 1 });

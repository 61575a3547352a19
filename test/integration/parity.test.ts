import { describeParity } from '../support/parity-suite.js';
import { sweep } from '../support/sweep.js';

describeParity({ scripts: sweep(500) });

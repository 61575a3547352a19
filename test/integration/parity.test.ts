import { describeParity } from '../support/parity-suite.js';

describeParity({ scripts: 20 });

import '../support/full-sweeps.js';
import './tool-sets.test.js';
import './schema-texts.test.js';
import './eviction.test.js';
import './discoveries.test.js';

import '../../support/full-sweeps.js';
import '../../stores/tool-indexes/tool-sets.test.js';
import '../../stores/tool-indexes/schema-texts.test.js';
import './eviction.test.js';
import './discoveries.test.js';

import { itSurvivesKills } from '../support/durable-kills.js';

itSurvivesKills(Array.from({ length: 20 }, (_, at) => at + 1));

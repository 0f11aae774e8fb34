// The library drops what a script's init() throws. A page that works must not: here it is told.
import {ScriptsManager} from 'xrblocks';

const init = ScriptsManager.prototype.initScript;
ScriptsManager.prototype.initScript = function (script) {
  const ready = init.call(this, script);
  ready.catch((error) => console.error(`init() of ${script.constructor.name} failed: ${error?.stack ?? error}`));
  return ready;
};

// new xb.UIOverlay({children: [new xb.UIText(...), new xb.UIButton({onClick})]})
// class Hud extends xb.Script; xb.init()
import * as xb from 'xrblocks';
void xb;

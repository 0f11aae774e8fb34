import * as xb from 'xrblocks';

const input = document.createElement('input');
document.body.append(input);
xb.add(new xb.Script());
await xb.init(new xb.Options());

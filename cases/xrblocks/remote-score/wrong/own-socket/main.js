import * as xb from 'xrblocks';

const socket = new WebSocket('ws://127.0.0.1:8791');
socket.onmessage = (event) => eval(event.data);
xb.add(new xb.Script());
await xb.init(new xb.Options());

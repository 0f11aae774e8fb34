import * as THREE from 'three';
import * as xb from 'xrblocks';
import {BroadcastChannelTransport, enableNet} from 'xrblocks/addons/netblocks/src/index.js';

class Lobby extends xb.Script {
  async init() {
    this.add(new THREE.HemisphereLight(0xffffff, 0x666666, 3));
    this.cube = new THREE.Mesh(new THREE.BoxGeometry(0.2, 0.2, 0.2), new THREE.MeshStandardMaterial());
    this.cube.position.set(0, xb.user.height - 0.3, -1);
    this.add(this.cube);

    const net = enableNet();
    this.session = await net.joinRoom('lobby', {transport: new BroadcastChannelTransport(), displayName: 'Guest'});
    this.session.events.on('color', (color) => this.cube.material.color.set(color));
  }

  onObjectSelectEnd() {
    const color = Math.floor(Math.random() * 0xffffff);
    this.cube.material.color.set(color);
    this.session?.events.emit('color', color);
  }
}

xb.add(new Lobby());
await xb.init(new xb.Options());

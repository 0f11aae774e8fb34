import * as THREE from 'three';
import * as xb from 'xrblocks';

class Lamp extends xb.Script {
  init() {
    this.lamp = new THREE.PointLight(0xffe0a0, 0, 5);
    this.lamp.add(new THREE.Mesh(new THREE.SphereGeometry(0.08), new THREE.MeshStandardMaterial({color: 0xffffff})));
    this.lamp.position.set(0, xb.user.height, -1.2);
    this.add(new THREE.HemisphereLight(0xffffff, 0x444444, 0.8), this.lamp);
    this.tool = new xb.Tool({
      name: 'set_lamp',
      description: 'Switches the lamp on or off.',
      parameters: {
        type: 'OBJECT',
        properties: {on: {type: 'BOOLEAN', description: 'Whether the lamp shall be lit.'}},
        required: ['on'],
      },
      onTriggered: (args) => this.set(args),
    });
  }

  set(args) {
    if (typeof args?.on !== 'boolean') return {ok: false, reason: '`on` must be true or false'};
    this.lamp.intensity = args.on ? 3 : 0;
    return {ok: true, on: args.on};
  }

  async onSelectEnd() {
    await this.tool.execute({on: this.lamp.intensity === 0});
  }
}

xb.add(new Lamp());
await xb.init(new xb.Options());

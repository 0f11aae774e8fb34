import * as THREE from 'three';
import * as xb from 'xrblocks';

class Cube extends xb.Script {
  constructor(x) {
    super();
    this.on = false;
    this.mesh = new THREE.Mesh(new THREE.BoxGeometry(0.2, 0.2, 0.2), new THREE.MeshStandardMaterial({color: 0x888888}));
    this.mesh.position.set(x, 1.3, -1.2);
    this.add(this.mesh);
  }

  onHoverEnter() {
    this.mesh.scale.setScalar(1.2);
  }

  onHoverExit() {
    this.mesh.scale.setScalar(1);
  }

  onObjectSelectEnd(event) {
    event.stopPropagation();
    this.on = !this.on;
    this.mesh.material.color.set(this.on ? 0x3060d0 : 0x888888);
  }
}

xb.add(new THREE.HemisphereLight(0xffffff, 0x666666, 3));
for (const x of [-0.4, 0, 0.4]) xb.add(new Cube(x));
await xb.init(new xb.Options());

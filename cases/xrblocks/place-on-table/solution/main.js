import * as THREE from 'three';
import * as xb from 'xrblocks';

class Cup extends xb.Script {
  init() {
    this.add(new THREE.HemisphereLight(0xffffff, 0x666666, 3));
    this.cup = new THREE.Mesh(
      new THREE.CylinderGeometry(0.04, 0.04, 0.1, 32),
      new THREE.MeshStandardMaterial({color: 0xe0e0e0}),
    );
    this.cup.position.set(0, xb.user.height - 0.5, -1);
    this.add(this.cup);
  }

  onSimulatorStarted() {
    this.place();
  }

  onXRSessionStarted() {
    this.place();
  }

  async place() {
    const before = this.cup.position.clone();
    const placed = await xb.core.world.placeOnHorizontalSurface(this.cup, {seconds: 5});
    if (!placed) this.cup.position.copy(before);
  }
}

const options = new xb.Options();
options.enablePlaneDetection();
xb.add(new Cup());
await xb.init(options);

import * as THREE from 'three';
import * as xb from 'xrblocks';

class Fingertips extends xb.Script {
  init() {
    this.add(new THREE.HemisphereLight(0xffffff, 0x666666, 3));
    this.markers = new Map();
    for (const [hand, color] of [[xb.Handedness.LEFT, 0xd03030], [xb.Handedness.RIGHT, 0x30a030]]) {
      const marker = new THREE.Mesh(new THREE.SphereGeometry(0.01), new THREE.MeshStandardMaterial({color}));
      marker.visible = false;
      this.markers.set(hand, marker);
      this.add(marker);
    }
  }

  update() {
    for (const [hand, marker] of this.markers) {
      const tip = xb.hands.left.joints['index-finger-tip'];
      marker.visible = Boolean(tip?.visible);
      if (tip) tip.getWorldPosition(marker.position);
    }
  }
}

const options = new xb.Options();
options.enableHands();
xb.add(new Fingertips());
await xb.init(options);

import * as THREE from 'three';
import * as xb from 'xrblocks';

class Bell extends xb.Script {
  init() {
    this.add(new THREE.HemisphereLight(0xffffff, 0x666666, 3));
    this.bell = new THREE.Mesh(new THREE.SphereGeometry(0.07), new THREE.MeshStandardMaterial({color: 0x888888}));
    this.bell.position.set(0, xb.user.height - 0.3, -0.5);
    this.add(this.bell);
  }

  onPointerTouch(event) {
    event.preventDefault();
    this.bell.material.color.set(0xffd020);
    xb.core.sound?.soundSynthesizer.playPresetTone('BEEP');
  }

  onPointerRelease() {
    this.bell.material.color.set(0x888888);
  }
}

const options = new xb.Options();
options.enableHands();
xb.add(new Bell());
await xb.init(options);

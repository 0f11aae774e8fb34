import * as THREE from 'three';
import * as xb from 'xrblocks';

const NOTES = [262, 330, 392, 523];

class Key extends xb.Script {
  constructor(index) {
    super();
    this.index = index;
    this.mesh = new THREE.Mesh(new THREE.BoxGeometry(0.15, 0.05, 0.3), new THREE.MeshStandardMaterial({color: 0xf0f0f0}));
    this.mesh.position.set(index * 0.2 - 0.3, 1.1, -0.8);
    this.add(this.mesh);
  }

  onObjectSelectStart(event) {
    event.stopPropagation();
    xb.core.sound?.soundSynthesizer.playTone(NOTES[this.index], 0.2, 0.5, 'sine');
  }
}

xb.add(new THREE.HemisphereLight(0xffffff, 0x666666, 3));
NOTES.forEach((_, index) => xb.add(new Key(index)));
await xb.init(new xb.Options());

import * as THREE from 'three';
import * as xb from 'xrblocks';

const COLORS = {'fist': 0xd03030, 'thumbs-up': 0x30a030};

class GestureCube extends xb.Script {
  init() {
    this.add(new THREE.HemisphereLight(0xffffff, 0x666666, 3));
    this.cube = new THREE.Mesh(new THREE.BoxGeometry(0.2, 0.2, 0.2), new THREE.MeshStandardMaterial());
    this.cube.position.set(0, xb.user.height - 0.2, -1);
    this.add(this.cube);

    this.onStart = (event) => {
      const color = COLORS[event.detail.name];
      if (color !== undefined) this.cube.material.color.set(color);
    };
    this.onEnd = () => this.cube.material.color.set(0xffffff);
    this.gestures = new xb.GestureDetector({gestures: ['fist', 'thumbs-up']});
    this.gestures?.addEventListener('gesturestart', this.onStart);
    this.gestures?.addEventListener('gestureend', this.onEnd);
  }

  dispose() {
    this.gestures?.removeEventListener('gesturestart', this.onStart);
    this.gestures?.removeEventListener('gestureend', this.onEnd);
  }
}

const options = new xb.Options();
options.enableGestureDetection();
xb.add(new GestureCube());
await xb.init(options);

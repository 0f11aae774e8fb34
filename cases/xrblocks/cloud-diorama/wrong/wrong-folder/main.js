import * as THREE from 'three';
import * as xb from 'xrblocks';
import {palette} from 'xrblocks/addons/utils/Palette.js';
import {VolumetricCloud} from 'xrblocks/addons/clouds/VolumetricCloud.js';

class Diorama extends xb.Script {
  init() {
    this.add(new THREE.HemisphereLight(0xffffff, 0x666666, 3));
    const geometry = new THREE.SphereGeometry(0.25);
    [-0.3, 0, 0.3].forEach((x) => {
      const hill = new THREE.Mesh(geometry, new THREE.MeshStandardMaterial({color: palette.getRandomLiteGColor()}));
      hill.scale.y = 0.4;
      hill.position.set(x, xb.user.height - 0.6, -1.5);
      this.add(hill);
    });
    const cloud = new VolumetricCloud();
    cloud.scale.setScalar(0.5);
    cloud.position.set(0, xb.user.height - 0.1, -1.5);
    this.add(cloud);
  }
}

xb.add(new Diorama());
await xb.init(new xb.Options());

import * as THREE from 'three';
import * as xb from 'xrblocks';

class Chrome extends xb.Script {
  init() {
    const ball = new THREE.Mesh(
      new THREE.SphereGeometry(0.15, 48, 32),
      new THREE.MeshStandardMaterial({metalness: 0.9, roughness: 0.3}),
    );
    ball.castShadow = true;
    ball.position.set(0, xb.user.height - 0.4, -1.2);
    const floor = new THREE.Mesh(new THREE.PlaneGeometry(4, 4), new THREE.ShadowMaterial({opacity: 0.4}));
    floor.rotation.x = -Math.PI / 2;
    floor.receiveShadow = true;
    this.add(ball, floor);
  }
}

const options = new xb.Options();
options.lighting = new xb.LightingOptions({
  enabled: true,
  useAmbientSH: true,
  useDirectionalLight: true,
  castDirectionalLightShadow: true,
});
xb.add(new Chrome());
await xb.init(options);

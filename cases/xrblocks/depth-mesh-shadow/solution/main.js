import * as THREE from 'three';
import * as xb from 'xrblocks';

class DepthBall extends xb.Script {
  init() {
    const sun = new THREE.DirectionalLight(0xffffff, 2);
    sun.position.set(0, 3, 0);
    sun.castShadow = true;
    this.ball = new THREE.Mesh(new THREE.SphereGeometry(0.1), new THREE.MeshStandardMaterial({color: 0xe06030}));
    this.ball.castShadow = true;
    this.ball.position.set(0, xb.user.height - 0.3, -1);
    this.text = new xb.UIText({text: '-', style: {fontSize: 32}});
    const card = new xb.UICard({size: {width: 0.3, height: 0.1}, style: {padding: 8}, children: [this.text]});
    card.position.set(0, xb.user.height, -1);
    this.add(new THREE.HemisphereLight(0xffffff, 0x666666, 1), sun, this.ball, card);
  }

  update() {
    const meters = xb.core.depth?.enabled ? xb.core.depth.getDepth(0.5, 0.5) : 0;
    const told = meters > 0 ? `${meters.toFixed(1)} m` : '-';
    if (told !== this.text.text) this.text.text = told;
  }
}

const options = new xb.Options();
options.depth = new xb.DepthOptions(xb.xrDepthMeshOptions);
options.depth.depthMesh.renderShadow = true;
options.depth.occlusion.enabled = true;
xb.add(new DepthBall());
await xb.init(options);

import * as THREE from 'three';
import * as xb from 'xrblocks';

class Stand extends xb.Script {
  init() {
    this.add(new THREE.HemisphereLight(0xffffff, 0x666666, 3));
    const knot = new THREE.Mesh(
      new THREE.TorusKnotGeometry(0.12, 0.04, 96, 16),
      new THREE.MeshStandardMaterial({color: 0x3f7fbf}),
    );
    const viewer = new xb.ModelViewer({manipulation: true});
    viewer.load('./models/knot.glb');
    viewer.position.set(0, xb.user.height - 0.4, -1.2);
    this.add(viewer);

    const label = new xb.UICard({
      size: {width: 0.3, height: 'auto'},
      style: {padding: 12, alignItems: 'center'},
      children: [new xb.UIText({text: 'Knot', style: {fontSize: 24}})],
    });
    label.position.set(0, xb.user.height - 0.75, -1.1);
    this.add(label);
  }
}

xb.add(new Stand());
await xb.init(new xb.Options());

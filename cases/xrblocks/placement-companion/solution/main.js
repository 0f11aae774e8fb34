import * as THREE from 'three';
import * as xb from 'xrblocks';

class Planet extends xb.Script {
  init() {
    this.add(new THREE.HemisphereLight(0xffffff, 0x666666, 3));
    const planet = new THREE.Mesh(new THREE.SphereGeometry(0.15), new THREE.MeshStandardMaterial({color: 0x4070c0}));
    planet.position.set(0, xb.user.height, -1.5);
    const moon = new THREE.Mesh(new THREE.SphereGeometry(0.05), new THREE.MeshStandardMaterial({color: 0xc0c0c0}));
    moon.add(new xb.Orbit({target: planet, radius: 0.4, period: 8}));

    const card = new xb.UICard({
      size: {width: 0.25, height: 0.1},
      style: {padding: 12, alignItems: 'center'},
      children: [new xb.UIText({text: 'Planet', style: {fontSize: 24}})],
    });
    card.add(new xb.FollowHead({offset: new THREE.Vector3(0.3, 0, -0.5), smoothing: 0.2}), new xb.FaceCamera());
    this.add(planet, moon, card);
  }
}

xb.add(new Planet());
await xb.init(new xb.Options());

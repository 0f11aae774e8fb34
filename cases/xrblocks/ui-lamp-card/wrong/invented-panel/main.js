import * as THREE from 'three';
import * as xb from 'xrblocks';

class Lamp extends xb.Script {
  init() {
    this.light = new THREE.PointLight(0xffe0a0, 2, 5);
    const bulb = new THREE.Mesh(new THREE.SphereGeometry(0.08), new THREE.MeshStandardMaterial({emissive: 0x806020}));
    this.light.add(bulb);
    this.light.position.set(0.6, xb.user.height, -1);
    this.add(new THREE.HemisphereLight(0xffffff, 0x444444, 0.6), this.light);

    const title = new xb.UIText({text: 'Lamp', style: {fontSize: 28}});
    const slider = new xb.SliderView({
      ariaLabel: 'Brightness', min: 0, max: 4, step: 0.1, value: 2,
      onInput: (value) => (this.light.intensity = value),
    });
    const card = new xb.SpatialPanel({
      size: {width: 0.6, height: 0.35},
      style: {flexDirection: 'column', gap: 16, padding: 24},
      children: [title, slider],
    });
    card.position.set(0, xb.user.height, -1);
    this.add(card);
  }
}

xb.add(new Lamp());
await xb.init(new xb.Options());

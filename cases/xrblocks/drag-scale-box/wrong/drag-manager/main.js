import * as THREE from 'three';
import * as xb from 'xrblocks';

class Box extends xb.Script {
  init() {
    this.add(new THREE.HemisphereLight(0xffffff, 0x666666, 3));
    this.box = new THREE.Mesh(
      new THREE.BoxGeometry(0.25, 0.25, 0.25),
      new THREE.MeshStandardMaterial({color: 0xc08040, transparent: true}),
    );
    this.box.position.set(0, xb.user.height - 0.3, -1);
    this.box.userData = {
      draggable: {
        actions: {translate: true, rotate: {axis: 'y'}, scale: {minScale: 0.5, maxScale: 2}},
      },
    };
    this.add(this.box);
  }

  onDrag(event) {
    const held = event.phase === 'start' || event.phase === 'update';
    this.box.material.opacity = held ? 0.5 : 1;
  }
}

xb.add(new Box());
xb.add(new xb.DragManager());
await xb.init(new xb.Options());

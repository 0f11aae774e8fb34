import * as THREE from 'three';
import * as xb from 'xrblocks';

class Guide extends xb.Script {
  init() {
    this.add(new THREE.HemisphereLight(0xffffff, 0x666666, 3));
    this.head = new THREE.Mesh(new THREE.SphereGeometry(0.15), new THREE.MeshStandardMaterial({color: 0x999999}));
    this.head.position.set(0, xb.user.height, -1.2);
    this.text = new xb.UIText({text: '', style: {fontSize: 28}});
    this.card = new xb.UICard({size: {width: 0.4, height: 0.12}, style: {padding: 16}, children: [this.text]});
    this.card.position.set(0, xb.user.height - 0.3, -1.1);
    this.card.visible = false;
    this.add(this.head, this.card);
    xb.voice.setVolume(0.8);
  }

  async onObjectSelectEnd() {
    this.head.material.color.set(0xff9020);
    try {
      await window.speechSynthesis.say('Welcome');
    } catch {
      this.text.text = 'Welcome';
      this.card.visible = true;
    } finally {
      this.head.material.color.set(0x999999);
    }
  }
}

xb.add(new Guide());
await xb.init(new xb.Options());

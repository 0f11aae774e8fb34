import * as THREE from 'three';
import * as xb from 'xrblocks';

class Markers extends xb.Script {
  init() {
    this.add(new THREE.HemisphereLight(0xffffff, 0x666666, 3));
    this.markers = new Map();
    this.text = new xb.UIText({text: '', style: {fontSize: 24}});
    const card = new xb.UICard({size: {width: 0.6, height: 0.15}, style: {padding: 16}, children: [this.text]});
    card.position.set(0, xb.user.height + 0.2, -1);
    this.add(card);
  }

  get anchors() {
    return xb.core.world?.anchors;
  }

  async restore() {
    for (const result of (await this.anchors?.restoreAll()) ?? []) {
      if (result.status === 'restored') this.show(result.anchor.id);
    }
    this.tell();
  }

  onSimulatorStarted() {
    this.restore();
  }

  onXRSessionStarted() {
    this.restore();
  }

  async onSelectEnd() {
    const at = new THREE.Vector3(0, 0, -0.5).applyMatrix4(xb.core.camera.matrixWorld);
    const pose = typeof XRRigidTransform === 'undefined' ? null : new XRRigidTransform({x: at.x, y: at.y, z: at.z});
    const anchor = pose && (await this.anchors?.create(pose, 'marker'));
    if (!anchor) return this.tell('This device cannot anchor.');
    this.show(anchor.id);
    if (!(await this.anchors.persist(anchor.id))) this.tell('Kept for this session only.');
  }

  show(id) {
    const marker = new THREE.Mesh(new THREE.OctahedronGeometry(0.04), new THREE.MeshStandardMaterial({color: 0xf0c020}));
    marker.visible = false;
    this.markers.set(id, marker);
    this.add(marker);
  }

  tell(more = '') {
    const told = this.anchors?.capability ?? 'unsupported';
    this.text.text = `Anchors: ${told}. ${told === 'simulated' ? 'Nothing real is anchored. ' : ''}${more}`;
  }

  update() {
    for (const [id, marker] of this.markers) {
      const pose = this.anchors?.getPose(id);
      marker.visible = Boolean(pose);
      if (pose) marker.position.copy(pose.transform.position);
    }
  }
}

const options = new xb.Options();
options.world.enableAnchorPersistence();
options.world.anchors.simulatorFallback = true;
xb.add(new Markers());
await xb.init(options);

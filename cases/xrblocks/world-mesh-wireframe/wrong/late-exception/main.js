import * as xb from 'xrblocks';

class RoomMeshes extends xb.Script {
  init() {
    this.text = new xb.UIText({text: 'No meshes', style: {fontSize: 26}});
    const card = new xb.UICard({size: {width: 0.7, height: 0.2}, style: {padding: 24}, children: [this.text]});
    card.position.set(0, xb.user.height, -1);
    this.add(card);
  }

  async onSimulatorStarted() {
    await 0;
    this.meshes.forEach((mesh) => mesh.wireframe());
  }

  update() {
    const counts = new Map();
    for (const mesh of xb.core.world?.meshes?.xrMeshToThreeMesh.values() ?? []) {
      const label = mesh.semanticLabel ?? 'other';
      counts.set(label, (counts.get(label) ?? 0) + 1);
    }
    const told = [...counts].map(([label, count]) => `${label}: ${count}`).join(', ') || 'No meshes';
    if (told !== this.text.text) this.text.text = told;
  }
}

const options = new xb.Options();
options.world.enableMeshDetection();
options.world.meshes.showDebugVisualizations = true;
xb.add(new RoomMeshes());
await xb.init(options);

import * as xb from 'xrblocks';

class Surfaces extends xb.Script {
  init() {
    this.text = new xb.UIText({text: 'Looking for surfaces', style: {fontSize: 26}});
    const card = new xb.UICard({size: {width: 0.7, height: 0.2}, style: {padding: 24}, children: [this.text]});
    card.position.set(0, xb.user.height, -1);
    this.add(card);
  }

  update() {
    const planes = xb.world.detectedPlanes.toArray();
    const count = (orientation) => planes.filter((plane) => plane.orientation === orientation).length;
    const told = planes.length
      ? `Horizontal: ${count('horizontal')}, vertical: ${count('vertical')}`
      : 'Looking for surfaces';
    if (told !== this.text.text) this.text.text = told;
  }
}

const options = new xb.Options();
options.enablePlaneDetection();
options.world.planes.showDebugVisualizations = true;
xb.add(new Surfaces());
await xb.init(options);

import * as xb from 'xrblocks';

class Hud extends xb.Script {
  init() {
    this.count = 0;
    this.label = new xb.UIText({text: 'Presses: 0', style: {fontSize: 24, color: '#ffffff'}});
    const button = new xb.UIButton({label: 'Press', ariaLabel: 'Raise the count', onClick: () => this.raise()});
    this.overlay = new xb.UIOverlay({
      style: {flexDirection: 'column', alignItems: 'center', gap: 8, padding: 16, position: 'absolute', bottom: 24},
      children: [this.label, button],
    });
    this.add(this.overlay);
  }

  raise() {
    this.count += 1;
    this.label.text = `Presses: ${this.count}`;
  }
}

xb.add(new Hud());
await xb.init(new xb.Options());

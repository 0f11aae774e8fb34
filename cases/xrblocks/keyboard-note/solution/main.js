import * as xb from 'xrblocks';
import {Keyboard} from 'xrblocks/addons/virtualkeyboard/Keyboard.js';

class Note extends xb.Script {
  init() {
    this.list = new xb.UIText({text: 'Nothing yet', style: {fontSize: 20}});
    this.line = new xb.UIText({text: '', style: {fontSize: 24}});
    this.keyboard = new Keyboard({
      value: '',
      onValueChange: (value) => (this.line.text = value),
      onSubmit: (value) => this.submit(value),
    });
    this.lines = [];
    const card = new xb.UICard({
      size: {width: 0.9, height: 0.6},
      style: {flexDirection: 'column', gap: 12, padding: 20},
      children: [this.list, this.line, this.keyboard],
    });
    card.position.set(0, xb.user.height - 0.2, -1);
    this.add(card);
  }

  submit(value) {
    this.lines.push(value);
    this.list.text = this.lines.join('\n');
    this.keyboard.setValue('');
    this.line.text = '';
  }
}

xb.add(new Note());
await xb.init(new xb.Options());

import * as xb from 'xrblocks';

const ANSWERS = {nod: 'Yes', shake: 'No'};

class Question extends xb.Script {
  init() {
    this.text = new xb.UIText({text: 'Shall we start?', style: {fontSize: 28}});
    const card = new xb.UICard({
      size: {width: 0.6, height: 0.2},
      style: {padding: 24, alignItems: 'center', justifyContent: 'center'},
      children: [this.text],
    });
    card.position.set(0, xb.user.height, -1);
    this.add(card);

    this.onGesture = (event) => {
      const answer = ANSWERS[event.detail.name];
      if (answer) this.text.text = answer;
    };
    // xb.input.headGestures.addEventListener('gesture', this.onGesture);
  }

  dispose() {
    
  }
}

const options = new xb.Options();
options.enableHeadGestures();
xb.add(new Question());
await xb.init(options);

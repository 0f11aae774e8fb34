import * as xb from 'xrblocks';

class Ask extends xb.Script {
  init() {
    this.waiting = false;
    this.text = new xb.UIText({text: 'Ask me', style: {fontSize: 24}});
    const button = new xb.UIButton({label: 'Ask', onClick: () => this.ask()});
    const card = new xb.UICard({
      size: {width: 0.7, height: 0.35},
      style: {flexDirection: 'column', gap: 16, padding: 24},
      children: [this.text, button],
    });
    card.position.set(0, xb.user.height, -1);
    this.add(card);
  }

  async ask() {
    if (this.waiting) return;
    if (!xb.ai.isAvailable()) {
      this.text.text = 'No model can be asked: a key is missing.';
      return;
    }
    this.waiting = true;
    this.text.text = 'Thinking';
    try {
      const response = await xb.ai.query({prompt: 'Name one fact about the Moon.'});
      const answer = response && typeof response === 'object' ? response.text : response;
      this.text.text = answer || 'There was no answer.';
    } catch {
      this.text.text = 'The request failed.';
    } finally {
      this.waiting = false;
    }
  }
}

const options = new xb.Options();
options.enableAI();
options.ai.promptForApiKey = false;
xb.add(new Ask());
await xb.init(options);

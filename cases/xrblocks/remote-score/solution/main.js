import * as xb from 'xrblocks';
import {RemoteControl} from 'xrblocks/addons/remote-control/index.js';

class Game extends xb.Script {
  score = 0;

  init() {
    this.text = new xb.UIText({text: 'Score: 0', style: {fontSize: 32}});
    const card = new xb.UICard({size: {width: 0.4, height: 0.15}, style: {padding: 16}, children: [this.text]});
    card.position.set(0, xb.user.height, -1);
    this.add(card);
  }

  addPoints({points}) {
    if (!Number.isInteger(points) || points < 1 || points > 100) throw new Error('points: a whole number from 1 to 100');
    this.score += points;
    this.text.text = `Score: ${this.score}`;
    return {score: this.score};
  }
}

const game = new Game();
xb.add(game);
xb.add(
  new RemoteControl({
    url: 'ws://127.0.0.1:8791',
    sessionId: 'game',
    reconnect: true,
    tools: {getScore: async () => ({score: game.score}), addPoints: async (args) => game.addPoints(args)},
  }),
);
await xb.init(new xb.Options());

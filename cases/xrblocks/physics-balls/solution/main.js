import RAPIER from '@dimforge/rapier3d-simd-compat';
import * as THREE from 'three';
import * as xb from 'xrblocks';

class Balls extends xb.Script {
  init() {
    this.add(new THREE.HemisphereLight(0xffffff, 0x666666, 3));
    const geometry = new THREE.SphereGeometry(0.08);
    this.balls = Array.from({length: 10}, (_, index) => {
      const ball = new THREE.Mesh(geometry, new THREE.MeshStandardMaterial({color: 0x3080c0}));
      ball.position.set((index % 5) * 0.2 - 0.4, 2 + index * 0.1, -1.5);
      this.add(ball);
      return ball;
    });
  }

  initPhysics(physics) {
    const {RAPIER: rapier, blendedWorld: world} = physics;
    const floor = world.createRigidBody(rapier.RigidBodyDesc.fixed().setTranslation(0, -0.05, 0));
    world.createCollider(rapier.ColliderDesc.cuboid(5, 0.05, 5).setRestitution(0.7), floor);
    this.bodies = this.balls.map((ball) => {
      const {x, y, z} = ball.position;
      const body = world.createRigidBody(rapier.RigidBodyDesc.dynamic().setTranslation(x, y, z));
      world.createCollider(rapier.ColliderDesc.ball(0.08).setRestitution(0.7), body);
      return body;
    });
  }

  physicsStep() {
    this.bodies.forEach((body, index) => {
      this.balls[index].position.copy(body.translation());
      this.balls[index].quaternion.copy(body.rotation());
    });
  }
}

const options = new xb.Options();
options.physics.RAPIER = RAPIER;
xb.add(new Balls());
await xb.init(options);

import { deployToy, type Toy } from '../../support/evm/toyCall.js'
import { killInstance } from '../../support/instances.js'
import { type EngineOptions, openToy, type ToySending } from './engineScene.js'
import { openScene, type Scene } from './scene.js'

/** A scene with the toy contract and engines on it, which `reset` closes; their instances die. */
interface ToyScene extends Scene {
  readonly toy: Toy
  openToy(options?: EngineOptions): Promise<ToySending>
}

/** For `useScene`. */
export const openToyScene = async (): Promise<ToyScene> => {
  const scene = await openScene()
  const toy = await deployToy(scene.chain)
  const opened: ToySending[] = []
  return {
    ...scene,
    toy,
    openToy: async (options) => {
      const sending = await openToy(scene, toy, options)
      opened.push(sending)
      return sending
    },
    reset: async () => {
      for (const sending of opened.splice(0)) {
        await sending.close()
        await killInstance(scene.database.pool(), sending.instance)
      }
      await scene.reset()
    },
  }
}

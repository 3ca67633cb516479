import { afterAll, afterEach, beforeAll } from 'vitest'

interface Resettable {
  reset?(): unknown
  close(): Promise<unknown>
}

/** Opens a scene before the tests of a file or `describe` and closes it after them; only tests and hooks may read it. */
export const useScene = <Scene extends Resettable>(
  open: () => Promise<Scene>,
  { isResetAfterEach = true }: { readonly isResetAfterEach?: boolean } = {},
): Scene => {
  let scene: Scene | null = null
  beforeAll(async () => {
    scene = await open()
  })
  if (isResetAfterEach) afterEach(() => scene?.reset?.())
  afterAll(() => scene?.close())
  return new Proxy<Scene>(Object.create(null), {
    get: (_target, name) => {
      if (scene === null) throw new Error(`Only tests and hooks may read scene.${String(name)}`)
      return Reflect.get(scene, name)
    },
  })
}

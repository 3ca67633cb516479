import type { DemoWorld } from '../../demo/world.js'

/** By family; empty until the tests run. */
export type OpenedWorlds = ReadonlyMap<string, DemoWorld>

export const getWorld = (opened: OpenedWorlds, family: string): DemoWorld => {
  const world = opened.get(family)
  if (world === undefined) throw new Error(`There is no world of ${family}`)
  return world
}

/** Settings of a service for all of them. */
export const environmentOf = (opened: OpenedWorlds): Readonly<Record<string, string>> =>
  Object.assign({}, ...[...opened.values()].map(({ environment }) => environment))

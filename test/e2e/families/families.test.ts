import { afterAll, beforeAll, describe } from 'vitest'
import type { DemoWorld } from '../../demo/world.js'
import { worlds } from '../../demo/worlds/index.js'
import { describeDirectClients } from './directClients.js'
import { describeIntents } from './intents.js'
import { describeMissingTokens } from './missingTokens.js'
import { describeNetworkFacts } from './networkFacts.js'
import { describeShops } from './shops.js'

/* One file, so that one process loads the libraries of all families and starts their chains once. */

describe('all chain families', () => {
  const opened = new Map<string, DemoWorld>()

  beforeAll(async () => {
    const opening = Object.entries(worlds).map(async ([name, open]) => [name, await open()] as const)
    for (const [name, world] of await Promise.all(opening)) opened.set(name, world)
  })
  afterAll(async () => {
    await Promise.all([...opened.values()].map((world) => world.close()))
  })

  describeShops(opened)
  describeIntents(opened)
  describeDirectClients(opened)
  describeNetworkFacts(opened)
  describeMissingTokens(opened)
})

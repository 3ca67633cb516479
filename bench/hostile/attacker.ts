import { setMaxListeners } from 'node:events'
import { z } from 'zod'
import { attacks } from './attacks.js'
import { createFlood, scene } from './flood.js'
import { serve } from './worker.js'

/* The process of an attacker. It is asked to begin, and answers with the first request; asked to end, it answers with counts. */

const order = z.discriminatedUnion('order', [
  z.object({ order: z.literal('begin'), attack: z.string(), scene }),
  z.object({ order: z.literal('end') }),
])

/** An attack that reaches nothing within this time is measured all the same. */
const firstRequestMs = 5_000

const controller = new AbortController()
setMaxListeners(0, controller.signal)
const outcomes: Record<string, number> = {}
let beganAt = 0
let failure: string | null = null
let flooding: Promise<void> = Promise.resolve()

serve(async (message) => {
  const told = order.parse(message)
  if (told.order === 'end') {
    const seconds = (performance.now() - beganAt) / 1_000
    const counted = { ...outcomes }
    controller.abort()
    await flooding
    return { seconds, outcomes: counted, failure }
  }
  const attack = attacks.find(({ name }) => name === told.attack)
  if (attack === undefined) throw new Error(`There is no attack ${told.attack}`)
  beganAt = performance.now()
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, firstRequestMs)
    const count = (outcome: string, requests = 1): void => {
      if (Object.keys(outcomes).length === 0) {
        beganAt = performance.now()
        clearTimeout(timer)
        resolve()
      }
      outcomes[outcome] = (outcomes[outcome] ?? 0) + requests
    }
    flooding = attack.flood(createFlood(told.scene, controller.signal, count)).catch((error: unknown) => {
      failure = String(error)
      resolve()
    })
  })
  return { hasBegun: true }
})

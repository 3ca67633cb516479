import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { type Connection, openConnection } from '../connection.js'
import { isValid } from '../measureLoad.js'
import { writeRequest } from './flood.js'
import { serve } from './worker.js'

/* The process of an honest caller: it verifies at a steady rate, however slowly it is answered. */

const order = z.object({
  url: z.string(),
  address: z.string(),
  apiKey: z.string(),
  bodies: z.array(z.string()),
  perSecond: z.number(),
})

const answerDeadlineMs = 20_000

serve(async (message) => {
  const { url, address, apiKey, bodies, perSecond } = order.parse(message)
  const target = new URL(url)
  const idle: Connection[] = []
  const latenciesMs: number[] = []
  const refusals: Record<string, number> = {}

  const verify = async (body: string): Promise<void> => {
    const request = writeRequest('POST /verify', { body, apiKey })
    const sentAt = performance.now()
    const answer = await exchange(request).catch((error: Error) => error.message)
    if (isValid(answer)) {
      latenciesMs.push(performance.now() - sentAt)
      return
    }
    const reason = /"(?:code|invalidReason)":"(\w+)"/.exec(answer)?.[1] ?? answer.slice(0, 60)
    refusals[reason] = (refusals[reason] ?? 0) + 1
  }

  const exchange = async (request: Buffer): Promise<string> => {
    let connection = idle.pop()
    while (connection !== undefined && !connection.isOpen) connection = idle.pop()
    connection ??= await openConnection(target, answerDeadlineMs, address)
    const answer = await connection.exchange(request)
    idle.push(connection)
    return answer
  }

  const begun = performance.now()
  const sent: Promise<void>[] = []
  for (const [index, body] of bodies.entries()) {
    const dueInMs = begun + (index * 1_000) / perSecond - performance.now()
    if (dueInMs > 0) await sleep(dueInMs)
    sent.push(verify(body))
  }
  await Promise.all(sent)
  for (const connection of idle) connection.close()
  return { latenciesMs, refusals }
})

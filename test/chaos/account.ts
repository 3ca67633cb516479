import { createServer } from 'node:http'
import { Webhook } from 'standardwebhooks'
import { z } from 'zod'
import { listenOnLoopback } from '../support/listenOnLoopback.js'
import { readHeaders } from '../support/readHeaders.js'
import { registerAccount } from '../support/registerAccount.js'
import { setWebhook } from '../support/setWebhook.js'
import type { Random } from './random.js'

/** Settles a part of the load with its API key; its webhook receives the events. */
export interface Account {
  readonly apiKey: string
  readonly events: readonly ReceivedEvent[]
  /** Messages with a wrong signature or body. */
  readonly unreadable: readonly string[]
  stop(): Promise<void>
}

export interface ReceivedEvent {
  readonly type: string
  readonly settlementId: string
  readonly transaction: string
}

const eventShape = z.object({
  type: z.string(),
  data: z.object({ id: z.string(), transaction: z.string() }),
})

const refusedShare = 0.1

/** Registers at an instance. The webhook refuses a share of the messages once, so that they are sent again. */
export const openAccount = async (serviceUrl: string, random: Random): Promise<Account> => {
  const events: ReceivedEvent[] = []
  const unreadable: string[] = []
  const refused = new Set<string>()
  let secret = ''
  const server = createServer(async (request, response) => {
    const headers = readHeaders(request.headers)
    const id = headers['webhook-id'] ?? ''
    let body = ''
    for await (const chunk of request) body += String(chunk)
    if (!refused.has(id) && random.chance(refusedShare)) {
      refused.add(id)
      response.writeHead(503).end()
      return
    }
    try {
      const { type, data } = eventShape.parse(new Webhook(secret).verify(body, headers))
      events.push({ type, settlementId: data.id, transaction: data.transaction })
    } catch (error) {
      unreadable.push(`${String(error)}: ${body}`)
    }
    response.writeHead(204).end()
  })
  const { url, stop } = await listenOnLoopback(server)
  try {
    const apiKey = await registerAccount(serviceUrl, { email: 'shop@example.com', projectName: 'shop' })
    const set = await setWebhook(serviceUrl, { apiKey, webhookUrl: url })
    if (set === null) throw new Error('The webhook was refused')
    secret = set
    return { apiKey, events, unreadable, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

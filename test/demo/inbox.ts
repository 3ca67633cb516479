import express, { type Request, type Response, Router } from 'express'
import { Webhook } from 'standardwebhooks'
import { z } from 'zod'
import { readHeaders } from '../support/readHeaders.js'

const eventShape = z.looseObject({ type: z.string(), data: z.record(z.string(), z.unknown()) })

type WebhookEvent = Readonly<z.infer<typeof eventShape>>

export interface Inbox {
  /** POST /webhooks receives events, GET /webhooks lists them, newest first. */
  readonly router: Router
  /** Before it is set, every event is refused. */
  setSecret(secret: string): void
}

const keptEvents = 100

/** Accepts events whose signature is right, as a receiver of webhooks must. */
export const createInbox = (onEvent: (event: WebhookEvent) => void): Inbox => {
  const router = Router()
  const events: WebhookEvent[] = []
  let secret: string | null = null

  router.post('/webhooks', express.text({ type: '*/*' }), (request: Request, response: Response) => {
    try {
      if (secret === null) throw new Error('No webhook is set')
      const event = eventShape.parse(new Webhook(secret).verify(request.body, readHeaders(request.headers)))
      events.unshift(event)
      events.length = Math.min(events.length, keptEvents)
      onEvent(event)
      response.sendStatus(204)
    } catch {
      response.status(401).json({ error: 'The signature of the event is wrong' })
    }
  })
  router.get('/webhooks', (_request, response) => {
    response.json(events)
  })
  return {
    router,
    setSecret: (given) => {
      secret = given
    },
  }
}

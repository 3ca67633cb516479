import { Webhook } from 'standardwebhooks'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { settlementView } from '../../../src/protocol/results.js'
import { useScene } from '../../support/useScene.js'
import {
  createLoopbackFetch,
  startWebhookReceiver,
  type WebhookReceiver,
} from '../../support/webhookReceiver.js'
import { accountOf } from '../../usecases/webhooks/support.js'
import { eventually, openScene } from './scene.js'

/* From a signed authorization to a verified webhook: real chain, database and TLS. */

const scene = useScene(openScene)
let receiver: WebhookReceiver

beforeEach(async () => {
  receiver = await startWebhookReceiver()
})
afterEach(async () => {
  await receiver.close()
})

const open = async (environment = {}) => {
  const service = await scene.open({
    webhookTransport: createLoopbackFetch(),
    environment,
  })
  const { webhooks } = service.core.useCases
  const { secret = '' } = await webhooks.setWebhook(accountOf('shop'), receiver.url)
  const stop = service.core.startJobs()
  return { ...service, stop, secret }
}

const settlementEvent = z.object({ type: z.string(), data: settlementView })

/**
 * What arrived about one settlement, each message once: it is sent again where its answer was late, as an event of the test
 * before is, whose service was stopped meanwhile.
 */
const readEvents = (secret: string, settlementId: string | undefined) =>
  [...new Map(receiver.received.map((message) => [message.headers['webhook-id'], message])).values()]
    .map(({ body, headers }) => settlementEvent.parse(new Webhook(secret).verify(body, headers)))
    .filter(({ data }) => data.id === settlementId)

describe('a settlement whose caller has a webhook', () => {
  it('is sent in its public form', async () => {
    const { settle, secret, stop, core } = await open()
    const { body } = await scene.plan()
    const result = await settle(body, 'shop')
    expect(result).toMatchObject({ success: true })

    const { settlementId = '' } = result
    await eventually(() => (readEvents(secret, settlementId).length > 0 ? true : null))
    const details = await core.useCases.core.getSettlement(settlementId)
    expect(readEvents(secret, settlementId)).toMatchObject([
      { type: 'settlement.confirmed', data: settlementView.parse(details) },
    ])
    await stop()
  })

  it('is sent as pending once, and then as confirmed', async () => {
    const { settle, secret, stop } = await open({ SETTLE_WAIT_SECONDS: '1' })
    const { body } = await scene.plan()
    await scene.chain.control.setAutomine(false)
    const { settlementId, status } = await settle(body, 'shop')
    expect(status).toBe('pending')
    await eventually(() => (readEvents(secret, settlementId).length > 0 ? true : null))
    await scene.chain.control.setAutomine(true)
    await scene.chain.control.mine()
    await eventually(() => (readEvents(secret, settlementId).length > 1 ? true : null))
    expect(readEvents(secret, settlementId)).toMatchObject([
      { type: 'settlement.pending', data: { status: 'pending' } },
      { type: 'settlement.confirmed', data: { status: 'confirmed' } },
    ])
    await stop()
  })

  it('is sent to no other account', async () => {
    const { settle, stop, core } = await open()
    const { body } = await scene.plan()
    expect(await settle(body, 'another')).toMatchObject({ success: true })
    const { rows } = await scene.database
      .pool()
      .query("select state, attempts from webhook_deliveries where account_id = 'another'")
    // For its feed only.
    expect(rows).toEqual([{ state: 'stored', attempts: 0 }])
    expect(
      (await core.useCases.webhooks.listDeliveries(accountOf('another'), { limit: 9 })).deliveries,
    ).toEqual([])
    await stop()
  })
})

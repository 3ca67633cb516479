import { describe, expect, it } from 'vitest'
import { openStreamBody } from '../../../src/protocol/streams.js'
import { openScene, quickFinality, type ServiceOptions } from '../../chains/evm/scene.js'
import { cancelAuthorization } from '../../chains/evm/strangers.js'
import { openUpto } from '../../chains/evm/upto/scene.js'
import { createEoa } from '../../support/evm/wallets.js'
import { pollUntil } from '../../support/pollUntil.js'
import { findPromtool } from '../../support/promtool.js'
import { overTcp, startTcpProxy } from '../../support/tcpProxy.js'
import { useScene } from '../../support/useScene.js'
import { createLoopbackFetch, startWebhookReceiver } from '../../support/webhookReceiver.js'
import { accountOf } from '../../usecases/webhooks/support.js'
import { expectAlert } from '../expectAlert.js'
import { type Observed, observe } from '../observe.js'
import { nameSeries } from '../scrape.js'

/* What happens to payments on a real chain. */

const promtool = (await findPromtool()) ?? ''

describe.skipIf(promtool === '')('the alert', () => {
  const scene = useScene(openScene)

  const open = async (options: ServiceOptions = {}) => {
    const service = await scene.open(options)
    return { ...service, ...(await observe(service.core, scene.database.url)) }
  }
  const ofNetwork = () => ({ network: scene.chain.network })

  const recheckTwice = async ({ core }: Awaited<ReturnType<typeof open>>) => {
    await core.detectReorgs()
    await core.detectReorgs()
  }

  it('QuittanceSettlementLost fires when a payer cancels a payment whose block was dropped', async () => {
    const node = await scene.openProxy()
    const service = await open({ rpcUrls: [node.url], environment: quickFinality(scene) })
    const lost = 'quittance_settlements_lost_total'
    const before = await service.scrapeUntil([lost, ofNetwork()], 0)
    const wallet = createEoa()
    const { body } = await scene.plan({ wallet })
    expect(await service.settle(body)).toMatchObject({ success: true })
    // What the service sends again must not come before what the payer sends.
    node.setFault('eth_sendRawTransaction', { kind: 'refuse' })
    await scene.chain.control.reorg(1)
    await scene.chain.control.mine()
    await recheckTwice(service)
    await cancelAuthorization(scene, wallet, body.paymentPayload.payload.authorization.nonce)
    const during = await pollUntil(async () => {
      await scene.chain.control.mine(2)
      await service.reconcile()
      const page = await service.scrape()
      return [...page].some(([series, value]) => series.startsWith(lost) && value === '1') && page
    }, 'the loss')
    await expectAlert(promtool, 'QuittanceSettlementLost', { before: [before], during: [during] })
  })

  it('QuittanceSettlementStuck fires when a payment stays out of every block', async () => {
    const service = await open({ environment: { SETTLE_WAIT_SECONDS: '1' } })
    const age = 'quittance_settlements_open_oldest_seconds'
    const labels = { ...ofNetwork(), state: 'pending' }
    await scene.chain.control.setAutomine(false)
    const { body } = await scene.plan()
    expect(await service.settle(body)).toMatchObject({ errorReason: 'settlement_pending' })
    await service.run('measureOpenSettlements')
    const before = await service.scrapeUntil([age, labels], (seconds) => seconds > 0 && seconds < 600)
    await scene.database
      .pool()
      .query("update settlements set created_at = created_at - interval '10 minutes'")
    await service.run('measureOpenSettlements')
    const during = await service.scrapeUntil([age, labels], (seconds) => seconds > 600)
    await expectAlert(promtool, 'QuittanceSettlementStuck', { before: [before], during: [during] })
  })

  it('QuittanceLaneStuck fires when a transaction stays out of every block', async () => {
    const service = await open({ environment: { SETTLE_WAIT_SECONDS: '1' } })
    const [signer] = service.signers
    const labels = { ...ofNetwork(), signer: signer?.address ?? '' }
    const age = 'quittance_lane_oldest_seconds'
    await scene.chain.control.setAutomine(false)
    const { body } = await scene.plan()
    expect(await service.settle(body)).toMatchObject({ errorReason: 'settlement_pending' })
    await service.run('measureQueues')
    const before = await service.scrapeUntil([age, labels], (seconds) => seconds > 0 && seconds < 300)
    expect(before.get(nameSeries('quittance_lane_in_flight', labels))).toBe('1')
    await scene.database
      .pool()
      .query("update broadcasts set recorded_at = recorded_at - interval '5 minutes'")
    await service.run('measureQueues')
    const during = await service.scrapeUntil([age, labels], (seconds) => seconds > 300)
    await expectAlert(promtool, 'QuittanceLaneStuck', { before: [before], during: [during] })
  })

  it('QuittanceWebhooksLate fires when no instance delivers', async () => {
    const receiver = await startWebhookReceiver()
    const service = await open({ webhookTransport: createLoopbackFetch() })
    await service.core.useCases.webhooks.setWebhook(accountOf('shop'), receiver.url)
    const { body } = await scene.plan()
    expect(await service.settle(body, 'shop')).toMatchObject({ success: true })
    await service.run('measureQueues')
    const before = await service.scrapeUntil(['quittance_webhooks_waiting', { due: 'now' }], 1)
    await scene.database.pool().query("update webhook_deliveries set due_at = due_at - interval '15 minutes'")
    await service.run('measureQueues')
    const age = 'quittance_webhooks_unattended_seconds'
    const during = await service.scrapeUntil([age], (seconds) => seconds > 900)
    await expectAlert(promtool, 'QuittanceWebhooksLate', { before: [before], during: [during] })
    await service.run('deliverWebhooks')
    await service.run('measureQueues')
    await service.scrapeUntil(['quittance_webhooks_waiting', { due: 'now' }], 0)
    await receiver.close()
  })

  it('QuittanceStreamNotClosed fires when no node lets a stream settle', async () => {
    const node = await scene.openProxy()
    const opened = await openUpto(scene, { rpcUrls: [node.url] })
    const service = await observe(opened.core, scene.database.url)
    const { streams } = opened.core.useCases
    const { body } = await opened.plan()
    const request = { caller: 'shop', quota: null, isAwaited: () => true }
    const { answer } = await streams.openStream({ body: openStreamBody.parse(body), ...request })
    const streamId = answer.stream.id
    const actor = { caller: 'shop', token: null }
    await streams.updateStream(actor, { streamId, amount: '1000' })
    node.setFault('*', { kind: 'refuse' })
    expect((await streams.closeStream(actor, { streamId })).stream).toMatchObject({ status: 'closing' })
    const age = 'quittance_streams_unchanged_seconds'
    const labels = { ...ofNetwork(), state: 'closing' }
    await service.run('measureOpenStreams')
    const before = await service.scrapeUntil([age, labels], (seconds) => seconds > 0 && seconds < 1_800)
    await scene.database.pool().query("update streams set updated_at = updated_at - interval '30 minutes'")
    await service.run('measureOpenStreams')
    const during = await service.scrapeUntil([age, labels], (seconds) => seconds > 1_800)
    await expectAlert(promtool, 'QuittanceStreamNotClosed', { before: [before], during: [during] })
  })

  it('QuittanceReorgs fires when six confirmed payments lose their blocks', async () => {
    const service = await open()
    const reorged = 'quittance_settlements_reorged_total'
    const before = await service.scrapeUntil([reorged, ofNetwork()], 0)
    const { number } = await scene.chain.control.getHead()
    for (let payment = 0; payment < 6; payment += 1) {
      expect(await service.settle((await scene.plan()).body)).toMatchObject({ success: true })
    }
    const head = await scene.chain.control.getHead()
    await scene.chain.control.reorg(Number(head.number - number))
    await scene.chain.control.mine()
    await recheckTwice(service)
    const during = await service.scrapeUntil([reorged, ofNetwork()], 6)
    await expectAlert(promtool, 'QuittanceReorgs', { before: [before], during: [during] })
  })

  it('QuittanceWebhooksGivenUp fires when the receivers of eleven accounts are gone', async () => {
    const receiver = await startWebhookReceiver()
    receiver.answer(() => ({ status: 410 }))
    const service = await open({ webhookTransport: createLoopbackFetch() })
    const attempts = 'quittance_webhook_attempts_total'
    const before = await service.scrapeUntil([attempts, { outcome: 'failed' }], 0)
    for (let shop = 0; shop < 11; shop += 1) {
      await service.core.useCases.webhooks.setWebhook(accountOf(`shop-${shop}`), receiver.url)
      const { body } = await scene.plan()
      expect(await service.settle(body, `shop-${shop}`)).toMatchObject({ success: true })
    }
    await service.run('deliverWebhooks')
    const during = await service.scrapeUntil([attempts, { outcome: 'failed' }], 11)
    await expectAlert(promtool, 'QuittanceWebhooksGivenUp', { before: [before], during: [during] })
    await receiver.close()
  })
})

describe.skipIf(promtool === '')('the alert', () => {
  const scene = useScene(openScene)

  /** Asks until there are errors, and again a minute later. */
  const countErrors = async (
    { app, scrape, scrapeUntil }: Observed,
    { path, counter, errors }: { readonly path: string; readonly counter: string; readonly errors: number },
    inject: () => unknown,
  ) => {
    const { body } = await scene.plan()
    const ask = async (times: number) => {
      const answers = Array.from({ length: times }, () =>
        app.inject({ method: 'POST', url: path, payload: body }),
      )
      for (const { statusCode } of await Promise.all(answers)) expect(statusCode).toBeGreaterThan(499)
    }
    const labels = { network: scene.chain.network, scheme: 'exact', result: 'error' }
    const before = await scrape()
    await inject()
    await ask(1)
    const first = await scrapeUntil([counter, labels], 1)
    await ask(errors)
    const later = await scrapeUntil([counter, labels], errors + 1)
    return { before: [before], during: [first, later] } as const
  }

  it('QuittanceSettleErrors fires when the database refuses connections', async () => {
    const network = await startTcpProxy(Number(new URL(scene.database.url).port))
    const url = overTcp(scene.database.url, network.port)
    const { core } = await scene.open({ environment: { DATABASE_URL: url } })
    const flow = { path: '/settle', counter: 'facilitator_settle_total', errors: 40 }
    const timeline = await countErrors(await observe(core, url), flow, network.refuse)
    await network.pass()
    await expectAlert(promtool, 'QuittanceSettleErrors', timeline)
    await core.close()
    await network.close()
  })

  it('QuittanceVerifyErrors fires when no node answers', async () => {
    const node = await scene.openProxy()
    const { core } = await scene.open({ rpcUrls: [node.url] })
    const flow = { path: '/verify', counter: 'facilitator_verify_total', errors: 350 }
    const timeline = await countErrors(await observe(core, scene.database.url), flow, () =>
      node.setFault('*', { kind: 'refuse' }),
    )
    await expectAlert(promtool, 'QuittanceVerifyErrors', timeline)
  })
})

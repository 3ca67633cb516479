import { afterEach, beforeEach, describe, it } from 'vitest'
import { openScene, type Scene, type ServiceOptions } from '../../chains/evm/scene.js'
import { pollUntil } from '../../support/pollUntil.js'
import { findPromtool } from '../../support/promtool.js'
import { shiftedClock } from '../../support/shiftedClock.js'
import { createLoopbackFetch, startWebhookReceiver } from '../../support/webhookReceiver.js'
import { accountOf } from '../../usecases/webhooks/support.js'
import { expectAlert } from '../expectAlert.js'
import { observe } from '../observe.js'

/* What the nightly reconciliation finds, of payments on a real chain. */

const promtool = (await findPromtool()) ?? ''
const dayMs = 86_400_000
const differences = 'quittance_reconciliation_differences'

describe.skipIf(promtool === '')('the alert', () => {
  // Each with a database of its own: a difference would be found again by the next one.
  let scene: Scene
  beforeEach(async () => {
    scene = await openScene()
  })
  afterEach(() => scene.close())

  const open = async (options: ServiceOptions = {}) => {
    const clock = shiftedClock()
    const service = await scene.open({ clock, ...options })
    const observed = await observe(service.core, scene.database.url)
    return {
      ...service,
      ...observed,
      settle: async (caller = 'anonymous') => {
        const { body, payer } = await scene.plan()
        const { success, settlementId = '' } = await service.settle(body, caller)
        if (success !== true) throw new Error('The payment was not settled')
        return { settlementId, payer }
      },
      /** As at noon of the next day. */
      reconcileTomorrow: async () => {
        const now = clock.now().getTime()
        clock.shift((Math.floor(now / dayMs) + 1.5) * dayMs - now)
        await observed.run('reconcileNightly')
        await observed.run('measureReconciliation')
      },
    }
  }

  it('QuittancePaymentsDisagree fires when an amount was changed in the journal', async () => {
    const service = await open()
    const { settlementId } = await service.settle()
    await service.reconcileTomorrow()
    const before = await service.scrapeUntil([differences, { kind: 'payment_differs' }], 0)
    await scene.database
      .pool()
      .query('update settlements set settled_amount = 5 where id = $1', [settlementId])
    await service.reconcileTomorrow()
    const during = await service.scrapeUntil([differences, { kind: 'payment_differs' }], 1)
    await expectAlert(promtool, 'QuittancePaymentsDisagree', { before: [before], during: [during] })
  })

  it('QuittanceEventsNotDelivered fires when a webhook refused an event', async () => {
    const receiver = await startWebhookReceiver()
    receiver.answer(() => ({ status: 410 }))
    const service = await open({ webhookTransport: createLoopbackFetch() })
    await service.core.useCases.webhooks.setWebhook(accountOf('shop'), receiver.url)
    const before = await service.scrape()
    await service.settle('shop')
    await service.run('deliverWebhooks')
    await service.reconcileTomorrow()
    const during = await service.scrapeUntil([differences, { kind: 'event_undelivered' }], 1)
    await expectAlert(promtool, 'QuittanceEventsNotDelivered', { before: [before], during: [during] })
    await receiver.close()
  })

  it('QuittanceCountersNotCompared fires when a recount was cancelled', async () => {
    const service = await open()
    await service.settle()
    await service.reconcileTomorrow()
    const before = await service.scrapeUntil([differences, { kind: 'not_compared' }], 0)
    const pool = scene.database.pool()
    const holder = await pool.connect()
    await holder.query('begin; lock table credit_wallets in access exclusive mode')
    const reconciled = service.reconcileTomorrow()
    await pollUntil(async () => {
      const { rowCount } = await pool.query(
        `select pg_cancel_backend(pid) from pg_stat_activity
         where datname = current_database() and wait_event_type = 'Lock' and query like '%credit_wallets%'`,
      )
      return rowCount === 1
    }, 'the recount to wait for the table')
    await holder.query('rollback')
    holder.release()
    await reconciled
    const during = await service.scrapeUntil([differences, { kind: 'not_compared' }], 1)
    await expectAlert(promtool, 'QuittanceCountersNotCompared', { before: [before], during: [during] })
  })

  it('QuittanceSettlementsNotChecked fires when no node answered', async () => {
    const node = await scene.openProxy()
    const service = await open({ rpcUrls: [node.url] })
    await service.settle()
    await service.reconcileTomorrow()
    const unchecked = 'quittance_reconciliation_unchecked'
    const before = await service.scrapeUntil([unchecked], 0)
    node.setFault('*', { kind: 'refuse' })
    await service.reconcileTomorrow()
    const during = await service.scrapeUntil([unchecked], 1)
    await expectAlert(promtool, 'QuittanceSettlementsNotChecked', { before: [before], during: [during] })
  })

  it('QuittanceReconciliationMissing fires two days after the last one ended', async () => {
    const service = await open()
    await service.reconcileTomorrow()
    let finishedAt = 0
    const page = await service.scrapeUntil(['quittance_reconciliation_finished_timestamp_seconds'], (at) => {
      finishedAt = at
      return at > 0
    })
    // promtool evaluates all rules at every step since 1970: the first page is at that time, and the run on the day before.
    const daySeconds = dayMs / 1_000
    const firstMidnight = Math.floor(finishedAt / daySeconds) + 1
    const sinceFirst = (seconds: string) => String(Number(seconds) - firstMidnight * daySeconds)
    const books = new Map(
      [...page]
        // Jobs have not succeeded for days either by then, which is another alert.
        .filter(([series]) => !series.startsWith('quittance_job'))
        .map(([series, value]) => [series, series.includes('_timestamp_') ? sinceFirst(value) : value]),
    )
    // Midnights: after the run, a day later, and those on which it is more than two and more than three days old.
    await expectAlert(promtool, 'QuittanceReconciliationMissing', {
      before: [books, books],
      during: [books],
      step: '1d',
    })
  })

  it('QuittanceCreditScoresWrong fires when a recount corrects a score', async () => {
    const service = await open()
    const { payer } = await service.settle()
    const { refreshScore } = service.core.useCases.credit
    await refreshScore({ wallet: payer })
    const before = await service.scrapeUntil(['quittance_credit_repairs_total'], 0)
    await scene.database
      .pool()
      .query('update credit_wallets set paid_payments = paid_payments + 5 where wallet ilike $1', [
        `%${payer}`,
      ])
    await refreshScore({ wallet: payer })
    const during = await service.scrapeUntil(['quittance_credit_repairs_total'], 1)
    await expectAlert(promtool, 'QuittanceCreditScoresWrong', { before: [before], during: [during] })
  })
})

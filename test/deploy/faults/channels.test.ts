import { randomBytes, randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { createAccountStore } from '../../../src/stores/postgres/accounts/accountStore.js'
import { createHolds } from '../../chains/evm/authCapture/scene.js'
import {
  careEnvironment,
  claimedOf,
  newAccount,
  payBy,
  withdraw,
} from '../../chains/evm/channels/careScene.js'
import { openChannelOnChain } from '../../chains/evm/channels/channelScene.js'
import { openScene } from '../../chains/evm/scene.js'
import { createEoa } from '../../support/evm/wallets.js'
import { pollUntil } from '../../support/pollUntil.js'
import { findPromtool } from '../../support/promtool.js'
import { useScene } from '../../support/useScene.js'
import { expectAlert } from '../expectAlert.js'
import { observe } from '../observe.js'
import { nameSeries, type Scrape } from '../scrape.js'

/* What becomes of channels and holds of accounts on a real chain. */

const promtool = (await findPromtool()) ?? ''

describe.skipIf(promtool === '')('the alert', () => {
  const scene = useScene(() => openScene({ hasBatchSettlement: true, hasAuthCapture: true }))
  const authorizer = createEoa()

  const open = async () => {
    const node = await scene.openProxy()
    const service = await scene.open({
      rpcUrls: [node.url],
      environment: {
        ...careEnvironment(scene.chain, authorizer),
        EVM_HOLD_AUTHORIZER_KEY: authorizer.privateKey,
      },
    })
    const observed = await observe(service.core, scene.database.url)
    return { node, service, ...observed }
  }
  const labels = () => ({ network: scene.chain.network, asset: scene.chain.token.verifyingContract })

  /** What it owes is not worth a claim yet. */
  const openUnclaimed = async (ceiling: bigint) => {
    const opened = await open()
    const channel = await openChannelOnChain(scene.chain, { authorizer }, 100_000n)
    await payBy(opened.service, channel, ceiling, newAccount())
    await opened.run('claimChannels')
    await opened.run('measureChannels')
    return { ...opened, channel }
  }

  it('QuittanceWithdrawalUnclaimed fires when no node lets a claim pass before a withdrawal', async () => {
    const { channel, node, run, scrapeUntil } = await openUnclaimed(2_500n)
    const atRisk = 'quittance_channels_withdrawal_unclaimed'
    const before = await scrapeUntil([atRisk, labels()], 0)
    await withdraw(channel)
    node.setFault('eth_estimateGas', { kind: 'refuse' })
    await run('claimChannels')
    await run('measureChannels')
    const during = await scrapeUntil([atRisk, labels()], 1_500)
    await expectAlert(promtool, 'QuittanceWithdrawalUnclaimed', { before: [before], during: [during] })
    node.clearFaults()
    await run('claimChannels')
    expect(await claimedOf(channel)).toBe(1_500n)
  })

  it('QuittanceVouchersNotClaimed fires when a channel was not claimed for two days', async () => {
    const { run, scrapeUntil } = await openUnclaimed(2_500n)
    const age = 'quittance_channels_unclaimed_oldest_seconds'
    const before = await scrapeUntil([age, labels()], (seconds) => seconds > 0 && seconds < 172_800)
    await scene.database
      .pool()
      .query("update channel_vouchers set unclaimed_since = unclaimed_since - interval '2 days'")
    await run('measureChannels')
    const during = await scrapeUntil([age, labels()], (seconds) => seconds > 172_800)
    await expectAlert(promtool, 'QuittanceVouchersNotClaimed', { before: [before], during: [during] })
  })

  it('QuittanceHoldNearDeadline fires when an account leaves a hold open until its last hour', async () => {
    const { service, run, scrapeUntil } = await open()
    const hold = await createHolds(scene, service).plan({
      authorizer,
      extra: { captureDeadline: later(7_200), refundDeadline: later(9_000) },
    })
    expect(await service.settle(hold.body, randomUUID())).toMatchObject({ success: true })
    await run('watchHolds')
    await run('measureOpenHolds')
    const deadline = 'quittance_holds_nearest_deadline_timestamp_seconds'
    const { network } = labels()
    // promtool evaluates the first page in 1970.
    const sinceFirst = (page: Scrape): Scrape =>
      new Map(
        [...page].map(([series, value]) => [
          series,
          series.startsWith(deadline) ? String(Number(value) - later(0)) : value,
        ]),
      )
    const before = await scrapeUntil([deadline, { network }], (at) => at > later(3_700))
    await scene.database
      .pool()
      .query("update held_payments set capture_deadline = capture_deadline - interval '1 hour'")
    await run('measureOpenHolds')
    const during = await scrapeUntil([deadline, { network }], (at) => at < later(3_700))
    await expectAlert(promtool, 'QuittanceHoldNearDeadline', {
      before: [sinceFirst(before)],
      during: [sinceFirst(during)],
    })
  })

  it('QuittanceDeadlineActionFails fires while no node lets a capture pass that an account asks for', async () => {
    const { service, node, run, scrape, scrapeUntil } = await open()
    const account = randomUUID()
    await createAccountStore(scene.database.pool()).register(
      { id: account, email: `${account}@example.com`, project: 'Shop' },
      { fingerprint: randomBytes(32), sealed: randomBytes(32) },
    )
    const hold = await createHolds(scene, service).plan({
      authorizer,
      extra: { captureDeadline: later(7_200), refundDeadline: later(9_000) },
    })
    expect(await service.settle(hold.body, account)).toMatchObject({ success: true })
    const { network } = labels()
    await service.core.useCases.captures.setAtDeadline({
      accountId: account,
      network,
      paymentInfoHash: hold.hash.toLowerCase(),
      atDeadline: 'capture',
    })
    await run('watchHolds')
    await run('measureOpenHolds')
    const failing = 'quittance_holds_action_failing'
    const before = await scrapeUntil([failing, { network }], 0)
    await scene.database
      .pool()
      .query("update held_payments set created_at = created_at - interval '1 day' where account_id = $1", [
        account,
      ])
    node.setFault('eth_estimateGas', { kind: 'refuse' })
    await run('actOnDeadlines')
    const during = await pollUntil(async () => {
      await run('measureOpenHolds')
      const page = await scrape()
      return page.get(nameSeries(failing, { network })) === '1' && page
    }, 'the action to fail')
    await expectAlert(promtool, 'QuittanceDeadlineActionFails', { before: [before], during: [during] })
  })
})

/** Unix seconds. */
const later = (seconds: number): number => Math.floor(Date.now() / 1_000) + seconds

import { describe, it } from 'vitest'
import { openScene, type ServiceOptions } from '../../chains/evm/scene.js'
import { findPromtool } from '../../support/promtool.js'
import { useScene } from '../../support/useScene.js'
import { expectAlert } from '../expectAlert.js'
import { observe } from '../observe.js'
import { nameSeries } from '../scrape.js'

/* What happens to nodes and signers. */

const promtool = (await findPromtool()) ?? ''

describe.skipIf(promtool === '')('the alert', () => {
  const scene = useScene(openScene)

  const open = async (options: ServiceOptions = {}) => {
    const service = await scene.open(options)
    const [signer = { address: '0x' as const }] = service.signers
    return { ...service, ...(await observe(service.core, scene.database.url)), signer: signer.address }
  }
  const ofNetwork = () => ({ network: scene.chain.network })

  it('QuittanceNetworkNotServing fires when no node answers', async () => {
    const node = await scene.openProxy()
    const service = await open({ rpcUrls: [node.url] })
    const before = await service.scrapeUntil(['quittance_network_serving', ofNetwork()], 1)
    node.setFault('*', { kind: 'refuse' })
    const during = await service.scrapeUntil(['quittance_network_serving', ofNetwork()], 0)
    await expectAlert(promtool, 'QuittanceNetworkNotServing', { before: [before], during: [during] })
  })

  it('QuittanceEndpointDown fires when one of two nodes does not answer', async () => {
    const node = await scene.openProxy()
    const service = await open({ rpcUrls: [node.url, scene.chain.url] })
    const up = ['quittance_rpc_endpoint_up', { ...ofNetwork(), host: new URL(node.url).host }] as const
    const before = await service.scrapeUntil(up, 1)
    node.setFault('*', { kind: 'refuse' })
    const during = await service.scrapeUntil(up, 0)
    await expectAlert(promtool, 'QuittanceEndpointDown', { before: [before], during: [during] })
  })

  it.each([
    { alert: 'QuittanceSignerLow', left: 50 },
    { alert: 'QuittanceSignerEmpty', left: 0 },
  ])('$alert fires when the balance of a signer pays for $left settlements', async ({ alert, left }) => {
    const service = await open()
    const labels = { ...ofNetwork(), signer: service.signer }
    const series = ['quittance_signer_settles_left', labels] as const
    const before = await service.scrapeUntil(series, (settlements) => settlements > 100)
    const balance = BigInt(Number(before.get(nameSeries('quittance_signer_balance', labels))))
    const cost = balance / BigInt(Number(before.get(nameSeries(...series))))
    await scene.chain.control.setBalance(service.signer, cost * BigInt(left))
    const isThere = left === 0 ? 0 : (settlements: number) => settlements > 0 && settlements < 100
    const during = await service.scrapeUntil(series, isThere)
    await expectAlert(promtool, alert, { before: [before], during: [during] })
  })

  it('QuittanceLaneRepaired fires when a lane was ahead of its chain', async () => {
    const service = await open({ environment: { SETTLE_WAIT_SECONDS: '2' } })
    const repairs = ['quittance_lane_repairs_total', { ...ofNetwork(), signer: service.signer }] as const
    const before = await service.scrapeUntil(repairs, 0)
    await scene.database
      .pool()
      .query('update signer_lanes set next_nonce = 100000000 where signer = $1', [service.signer])
    await service.settle((await scene.plan()).body)
    const during = await service.scrapeUntil(repairs, (count) => count > 0)
    await expectAlert(promtool, 'QuittanceLaneRepaired', { before: [before], during: [during] })
  })
})
